//! Planning, in both directions: the buffer for a given loss, and the load for a given buffer and loss.
//!
//! If every trial uses the same random draws, the loss falls with the buffer and rises with the load. Both are
//! therefore bisections over a function that the caller evaluates, in parallel if it likes.

/// Returns the smallest buffer, in packets, with a loss of at most `target`. One packet per flow is always enough: the
/// queue cannot be longer.
///
/// # Errors
/// The errors of `loss`.
pub fn smallest_buffer<E>(flows: u32, target: f64, mut loss: impl FnMut(u32) -> Result<f64, E>) -> Result<u32, E> {
    // It doubles first: buffers for usual losses are far smaller than the number of flows.
    let (mut too_small, mut enough) = (0, 1.min(flows));
    while enough < flows && loss(enough)? > target {
        too_small = enough;
        enough = enough.saturating_mul(2).min(flows);
    }
    while enough - too_small > 1 {
        let middle = too_small + (enough - too_small) / 2;
        if loss(middle)? > target {
            too_small = middle;
        } else {
            enough = middle;
        }
    }
    Ok(enough)
}

/// Returns the largest utilisation up to `most` with a loss of at most `target`, to a ten-thousandth of `most` and at
/// least that.
///
/// # Errors
/// The errors of `loss`.
pub fn largest_utilisation<E>(most: f64, target: f64, mut loss: impl FnMut(f64) -> Result<f64, E>) -> Result<f64, E> {
    const PARTS: u32 = 10_000;
    let at = |part: u32| most * f64::from(part) / f64::from(PARTS);
    if loss(most)? <= target {
        return Ok(most);
    }
    let (mut low, mut high) = (1, PARTS);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if loss(at(middle))? > target {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(at(low))
}
