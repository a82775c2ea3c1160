"""The statistics agree with arithmetic by hand, with scipy where it has the same, and with simulation."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.stats import binom, binomtest, bootstrap

from docmind.evaluation.scoring import stats
from docmind.evaluation.scoring.stats import holm, interval, interval_of, mcnemar_loss, power, smallest_drop, wilson


def drawn() -> np.random.Generator:
    return np.random.default_rng(stats.SEED)


@pytest.mark.parametrize(
    ("lost", "gained", "p"),
    [
        (11, 2, (1 + 13 + 78) / 2**13),  # C(13,0) + C(13,1) + C(13,2) ways of at most two gains
        (5, 0, 1 / 2**5),
        (0, 5, 1.0),
        (1, 1, 3 / 4),
        (2, 11, (2**13 - 1 - 13) / 2**13),  # all but the ways of at most one loss
        (0, 0, 1.0),
    ],
)
def test_mcnemar_counts_the_ways_of_as_many_losses(lost, gained, p):
    assert mcnemar_loss(lost, gained) == pytest.approx(p, rel=1e-12)


def test_mcnemar_is_scipys_binomial_test():
    for lost in range(0, 60, 3):
        for gained in range(0, 60, 4):
            theirs = binomtest(lost, lost + gained, 0.5, alternative="greater").pvalue if lost + gained else 1.0
            assert mcnemar_loss(lost, gained) == pytest.approx(theirs, rel=1e-12)
    assert mcnemar_loss(2000, 1900) == pytest.approx(binom.sf(1999, 3900, 0.5), rel=1e-12)


@pytest.mark.parametrize("alpha", [None, 0.05, 0.005])
@pytest.mark.parametrize(
    ("n", "loss_rate", "gain_rate"), [(20, 0.3, 0.1), (300, 0.06, 0.01), (300, 0.5, 0.4), (2000, 0.05, 0.03)]
)
def test_power_is_the_sum_that_scipys_binomials_give(n, loss_rate, gain_rate, alpha):
    flips = np.arange(n + 1)
    fewest = np.array([stats._critical(n, int(f), alpha, Fraction(3, 100)) for f in flips])
    found = binom.sf(fewest - 1, flips, loss_rate / (loss_rate + gain_rate))
    theirs = float(binom.pmf(flips, n, loss_rate + gain_rate) @ found)
    assert power(loss_rate, gain_rate, n, alpha, Fraction(3, 100)) == pytest.approx(theirs, abs=1e-9)


def test_the_smallest_drop_is_the_first_step_of_all_that_is_found():
    for n, churn, alpha, tolerance in ((300, 0.02, None, Fraction(3, 100)), (60, 0.1, 0.05, Fraction(0))):
        steps = (s * stats.STEP for s in range(1, 1001))
        first = next(d for d in steps if power(churn / 2 + d, churn / 2, n, alpha, tolerance) >= stats.POWER)
        assert smallest_drop(n, churn, alpha, tolerance) == first


def test_five_losses_and_no_gain_are_exactly_a_thirty_second():
    assert mcnemar_loss(5, 0) == 1 / 32


def test_wilson_by_hand():
    # 8 of 10, z 1.96: centre (0.8 + 0.192) / 1.384 = 0.7168, half 1.96 * sqrt(0.016 + 0.0096) / 1.384 = 0.2266
    assert wilson(8, 10) == (pytest.approx(0.4902, abs=1e-4), pytest.approx(0.9433, abs=1e-4))
    assert wilson(10, 10)[1] == pytest.approx(1.0)


def by_hand(p_values):
    """Holm step by step: the smallest p times m, the next times m - 1 …; none falls under its predecessor or over 1."""
    order = sorted(p_values, key=lambda name: p_values[name])
    m = len(order)
    return {
        name: min(1.0, max((m - i) * p_values[order[i]] for i in range(order.index(name) + 1))) for name in p_values
    }


def test_holm_by_hand():
    # 3 × 0.01, 2 × 0.02 = 0.04, 1 × 0.03 = 0.03, which is raised to its predecessor's 0.04
    assert holm({"b": 0.02, "a": 0.01, "c": 0.03}) == pytest.approx({"b": 0.04, "a": 0.03, "c": 0.04})
    assert list(holm({"b": 0.02, "a": 0.01})) == ["b", "a"], "names keep their order"
    assert holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}
    assert holm({"a": 0.2}) == {"a": 0.2}
    assert holm({}) == {}


def test_holm_agrees_with_an_independent_computation():
    generator = drawn()
    for m in range(1, 30):
        p_values = {f"s{i}": float(p) for i, p in enumerate(generator.choice([0.001, 0.01, 0.02, 0.2, 0.6, 1.0], m))}
        adjusted = holm(p_values)
        assert adjusted == pytest.approx(by_hand(p_values))
        assert all(adjusted[name] >= p for name, p in p_values.items())


@pytest.mark.parametrize(("lost", "gained", "n"), [(11, 2, 100), (3, 3, 40), (0, 6, 60), (20, 1, 300)])
def test_the_interval_is_scipys_paired_percentile_bootstrap(lost, gained, n):
    before = np.array([1] * lost + [0] * gained + [1] * (n - lost - gained))
    after = np.array([0] * lost + [1] * gained + [1] * (n - lost - gained))

    def change(before, after, axis=-1):
        return after.mean(axis=axis) - before.mean(axis=axis)

    theirs = bootstrap(
        (before, after), change, paired=True, method="percentile", n_resamples=10_000, rng=drawn()
    ).confidence_interval
    # Quantiles of multiples of 1/n: theirs are of draws, which may miss by one step.
    assert interval(lost, gained, n) == pytest.approx((theirs.low, theirs.high), abs=1.01 / n)


def test_without_a_gain_the_interval_is_the_middle_95_percent_of_a_binomial():
    """200 lost of 1,000: 1.96 standard deviations of 12.6 questions either way; 90 % would be four questions less."""
    low, high = (
        binom.ppf(q, 1000, 0.8) for q in (0.025, 0.975)
    )  # of those kept, the smallest counts with that much below
    assert interval(200, 0, 1000) == pytest.approx(((low - 1000) / 1000, (high - 1000) / 1000), rel=1e-12)


@pytest.mark.parametrize(("lost", "gained", "n"), [(1, 0, 3), (2, 1, 5), (4, 3, 11), (0, 2, 7)])
def test_the_interval_is_what_every_possible_draw_adds_up_to(lost, gained, n):
    """All n^n draws counted by hand: of each net gain, how many there are; then the smallest with 2.5 and 97.5 % below."""
    ways = {0: 1}
    for _ in range(n):
        after: dict[int, int] = {}
        for net, count in ways.items():
            for step, times in ((-1, lost), (1, gained), (0, n - lost - gained)):
                after[net + step] = after.get(net + step, 0) + count * times
        ways = after
    nets = sorted(ways)
    expected = [next(m for m in nets if sum(ways[k] for k in nets if k <= m) >= q * n**n) / n for q in (0.025, 0.975)]
    assert interval(lost, gained, n) == pytest.approx(expected)


def test_the_interval_holds_the_change():
    low, high = interval(11, 2, 97)
    assert low < (2 - 11) / 97 < high
    assert interval(11, 3, 97) != (low, high)


def test_the_interval_turns_with_the_sign_and_is_a_point_without_a_flip():
    assert interval(0, 0, 50) == (0, 0)
    assert interval(50, 0, 50) == (-1, -1)
    assert interval(0, 50, 50) == (1, 1)
    assert interval(10, 0, 50)[1] < 0 < interval(0, 10, 50)[0]


def test_flips_have_the_exact_interval_whatever_their_order():
    differences = [Fraction(-1)] * 11 + [Fraction(1)] * 2 + [Fraction(0)] * 87
    assert interval_of(differences) == interval_of(differences[::-1]) == interval(11, 2, 100)
    assert interval_of([Fraction(0)]) == (0, 0)


def test_the_interval_of_reciprocal_ranks_is_scipys_paired_percentile_bootstrap():
    """60 questions: 20 fall from rank 1 to 2, 5 rise from 3 to 1, one is lost, the others stay."""
    differences = [Fraction(-1, 2)] * 20 + [Fraction(2, 3)] * 5 + [Fraction(-1)] + [Fraction(0)] * 34
    theirs = bootstrap(
        (np.array(differences, dtype=float),), np.mean, method="percentile", n_resamples=10_000, rng=drawn()
    ).confidence_interval
    found = interval_of(differences)
    assert found == interval_of(differences[::-1]), "the order of the questions changes nothing"
    assert found == pytest.approx((theirs.low, theirs.high), abs=0.006)  # the standard error is 0.055
    assert found[0] < float(sum(differences)) / 60 < found[1]


@pytest.mark.parametrize(("n", "found"), [(43, 0.09), (300, 0.84)])
def test_a_true_drop_of_five_points_is_seldom_found_by_43_questions_and_mostly_by_300(n, found):
    """7.5 % lost, 2.5 % gained, at 0.05: 9 times in 100, 84 times in 100."""
    assert power(0.075, 0.025, n, 0.05) == pytest.approx(found, abs=0.006)


@pytest.mark.parametrize(("loss_rate", "gain_rate", "n"), [(0.075, 0.025, 43), (0.1, 0.05, 120), (0.05, 0.05, 200)])
def test_power_agrees_with_simulation(loss_rate, gain_rate, n):
    draws = drawn().multinomial(n, [loss_rate, gain_rate, 1 - loss_rate - gain_rate], size=20_000)
    pairs, times = np.unique(draws[:, :2], axis=0, return_counts=True)
    found = sum(
        t for (lost, gained), t in zip(pairs.tolist(), times, strict=True) if mcnemar_loss(lost, gained) <= 0.05
    )
    assert power(loss_rate, gain_rate, n, 0.05) == pytest.approx(found / 20_000, abs=0.01)


def test_power_at_its_ends():
    assert power(0, 0, 100, 0.05) == 0
    assert power(1, 0, 5, 0.05) == pytest.approx(1), "all five are lost for certain, and 1/32 is under 0.05"
    assert power(1, 0, 4, 0.05) == 0, "1/16 is not"
    assert power(0, 0.5, 100, 0.05) == 0, "what is gained is no loss"


@pytest.mark.parametrize("tolerance", [Fraction(0), Fraction(1, 60), Fraction(3, 100), Fraction("0.05")])
@pytest.mark.parametrize("alpha", [None, 0.5, 0.25, 0.05, 1 / 32, 0.01, 0.001])
def test_the_fewest_losses_that_a_rule_finds_are_those_that_a_loop_finds(alpha, tolerance):
    """1/32 is met exactly by five losses of five flips, and 1/60 and 0.05 of 60 by a net loss of 1 and 3, which still
    pass; 0.5 by the larger half of an odd number of flips. Ways are counted, since scipy's p is a digit off there."""
    n = 60
    for flips in range(n + 1):
        fewest = stats._critical(n, flips, alpha, tolerance)
        enough = [
            lost
            for lost in range(1, flips + 1)
            if 2 * lost - flips > tolerance * n
            and (alpha is None or sum(comb(flips, k) for k in range(lost, flips + 1)) <= Fraction(alpha) * 2**flips)
        ]
        assert fewest == min(enough, default=fewest)
        assert enough or fewest > flips


def test_the_smallest_drop_of_the_shipped_rule_is_what_simulated_runs_find():
    """300 questions of which none flips but by the drop, 3 points allowed: 4.2 points are found in 8 of 10 runs, and the 2.3
    that McNemar's test alone would show in one of six."""
    tolerance = Fraction(3, 100)
    generator = np.random.default_rng(7)
    found = {drop: (generator.binomial(300, drop, 20_000) > 9).mean() for drop in (0.023, 0.041, 0.042)}
    assert found[0.041] < 0.8 < found[0.042]
    assert found[0.023] == pytest.approx(0.16, abs=0.01)
    assert smallest_drop(300, 0, None, tolerance) == pytest.approx(0.042)
    assert smallest_drop(300, 0, 0.05) == pytest.approx(0.023)
    for drop, share in found.items():
        assert power(drop, 0, 300, None, tolerance) == pytest.approx(share, abs=0.01)


def test_the_smallest_drop_falls_with_n_and_rises_with_churn_and_with_a_stricter_alpha():
    by_n = [smallest_drop(n, 0.05, 0.05) for n in (10, 20, 40, 80, 160, 320, 640)]
    assert by_n == sorted(by_n, reverse=True)
    assert len(set(by_n)) == len(by_n)
    by_churn = [smallest_drop(300, share, 0.05) for share in (0.0, 0.05, 0.1, 0.2, 0.4)]
    assert by_churn == sorted(by_churn)
    assert len(set(by_churn)) == len(by_churn)
    assert smallest_drop(300, 0.1, 0.05) < smallest_drop(300, 0.1, 0.01)


def test_the_smallest_drop_is_found_with_80_percent_and_the_next_smaller_is_not():
    n, churn = 109, 0.1
    drop = smallest_drop(n, churn, 0.05)

    def found(d):
        return power(churn / 2 + d, churn / 2, n, 0.05)

    assert found(drop) >= 0.8 > found(drop - stats.STEP)


def test_without_churn_the_smallest_drop_is_that_of_five_losses():
    """At 0.05 five losses without a gain are needed; 0.8 = P(X >= 5) for X of Binomial(20, p) at p = 0.314."""
    assert smallest_drop(20, 0, 0.05) == pytest.approx(0.314)
    assert binom.sf(4, 20, 0.314) >= 0.8 > binom.sf(4, 20, 0.313)


@pytest.mark.parametrize("n", [1, 3, 4])
def test_with_so_few_questions_no_drop_can_be_found(n):
    """Even all of four lost: 1/16."""
    assert smallest_drop(n, 0, 0.05) is None
    assert smallest_drop(n, 1, 0.05) is None
    assert smallest_drop(5, 0, 0.05) is not None
