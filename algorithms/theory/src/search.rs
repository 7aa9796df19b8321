//! Bisection.

/// Halvings of an interval until it is as small as a double can say.
const BISECTIONS: u32 = 64;

/// Where a condition that holds from `low` on ceases to hold.
pub(crate) fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}
