//! Bisection.

/// Halvings that shrink an interval to the resolution of a double.
const BISECTIONS: u32 = 64;

/// Returns where a condition that holds from `low` on ceases to hold.
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
