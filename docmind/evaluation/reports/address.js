"use strict";
// What a page's list is filtered by stands in its address after "#", so that what is seen can be sent to others.

const element = (id) => document.getElementById(id);

// `filters` are the controls, each known by its id; `show` lists what they let through; `list` is scrolled to where an
// address asks for a part.
function keepInAddress(filters, show, list) {
  const usual = new Map(filters.map((control) => [control, control.value]));
  const takes = (control, value) => !control.options || [...control.options].some((option) => option.value === value);

  function read() {
    const given = new URLSearchParams(location.hash.slice(1));
    if (!filters.some((control) => given.has(control.id))) return false;
    for (const control of filters) {
      const wanted = given.get(control.id) ?? "";
      control.value = takes(control, wanted) ? wanted : usual.get(control);
    }
    show();
    return true;
  }

  function write() {
    const told = new URLSearchParams();
    for (const control of filters) if (control.value) told.set(control.id, control.value);
    history.replaceState(null, "", `#${told}`);
  }

  for (const control of filters) {
    control.addEventListener("input", () => {
      show();
      write();
    });
  }
  window.addEventListener("hashchange", () => {
    if (read()) list.scrollIntoView();
  });
  if (read()) list.scrollIntoView();
  else show();
}
