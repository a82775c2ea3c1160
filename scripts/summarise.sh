#!/usr/bin/env bash
# What a job shows of a run: the summary, the annotations, what later steps may go by, and the text for the comment.
#
# OUT            the folder of the run's results
# NAME           what the comment is called: a-z, 0-9 and -
# INFORMATIONAL  "true" where nothing of it fails the job
# CODE           how docmind ended, "" where it did not come to that
#
# Where the run left no report, the file $RUNNER_TEMP/docmind.why says why in a sentence, and docmind.log is what the
# terminal had; either may be missing. It runs with any bash, and needs no Python.
set -euo pipefail

GAP=$'\xe2\x80\x8b' # takes no room, and parts what would be a mention or an address

# No control character, and no character that is cut in two.
plain() { { iconv -c -f UTF-8 -t UTF-8 2> /dev/null || true; } | LC_ALL=C tr -d '\000-\010\013-\037\177'; }

# Nobody is mentioned and nothing is linked to. As evaluation/reports/inert.py has it.
unlinked() { sed -e "s/[@#]/&$GAP/g" -e "s/GH-/&$GAP/g" -e "s|://|:$GAP//|g" -e "s/[Ww][Ww][Ww]\./&$GAP/g"; }

# Each line an item of a list, in which Markdown and tags are characters.
items() { sed -e '/^[[:space:]]*$/d' -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/[][\`*_|~!]/\\&/g' -e 's/^[[:space:]]*/- /'; }

why="The run ended before it could judge. Its log says why."
if [ -f "$RUNNER_TEMP/docmind.why" ]; then why=$(plain < "$RUNNER_TEMP/docmind.why"); fi
told=""
if [ -f "$RUNNER_TEMP/docmind.log" ]; then
  told=$(tail -c 4000 "$RUNNER_TEMP/docmind.log" | plain | sed -e '/^[[:space:]]*$/d' | tail -n 15)
fi

mkdir -p -- "$OUT"
if [ ! -f "$OUT/latest.comment.md" ]; then
  {
    printf '### ⚠️ Retrieval: no verdict\n\n'
    printf '%s\n' "$why" "$told" | unlinked | items
  } > "$OUT/latest.comment.md"
  printf '%s\n' "there is no verdict: $why" "$told" | unlinked | sed -e '/^$/d' -e 's/%/%25/g' |
    awk '{ printf "%s%s", (NR > 1 ? "%0A" : "::error title=retrieval gate::"), $0 } END { print "" }' \
      > "$OUT/latest.annotations.txt"
fi

loud=error
if [ "${INFORMATIONAL:-}" = true ]; then
  loud=warning
  for report in "$OUT"/latest.*comment.md; do
    {
      head -n 1 -- "$report"
      printf '\n%s\n' 'ℹ️ For information: whatever stands here, this check fails nothing.'
      tail -n +2 -- "$report"
    } > "$RUNNER_TEMP/docmind.comment"
    cat "$RUNNER_TEMP/docmind.comment" > "$report"
  done
fi

{
  printf '## %s\n\n' "$NAME"
  cat "$OUT"/latest.*comment.md
} >> "$GITHUB_STEP_SUMMARY"
if [ -f "$OUT/latest.annotations.txt" ]; then sed "s/^::error /::$loud /" "$OUT/latest.annotations.txt"; fi

# One folder for each name, so that the texts of several jobs can lie beside each other.
handed="$RUNNER_TEMP/docmind-comment-$NAME"
rm -rf -- "$handed"
mkdir -p -- "$handed/$NAME"
cp -- "$OUT"/latest.*comment.md "$handed/$NAME/"

{
  printf '%s\n' "exit-code=${CODE:-2}" "html=$OUT/latest.html" "comment=$OUT/latest.comment.md"
  if [ -f "$OUT/latest.outputs.txt" ]; then
    sed "s/^headline=/&$([ "$loud" = error ] || printf 'for information: ')/" "$OUT/latest.outputs.txt"
  else
    printf '%s\n' 'headline=no verdict' 'figures={}'
  fi
} >> "$GITHUB_OUTPUT"
