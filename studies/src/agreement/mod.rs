//! How well our tables agree with printed ones: by order, by shape and by size, because papers conclude from these and not
//! from single cells.
//!
//! The rule, for the cells of one printed quantity. All distances are between logarithms; a value below half of the last
//! printed place counts as that half, so that two zeros are equal.
//!
//! | question | figure |
//! |---|---|
//! | order ([`order`]) | of the pairs of cells that print distinguishes, the part that ours puts in the same order |
//! | shape ([`shape`]) | the correlation of what is left when the means of rows and columns are removed |
//! | size ([`size`]) | bias with its interval, limits of agreement, skill against the best constant |
//! | cells ([`equivalence`]) | equivalent, different, or undecided, from the interval of our runs |
//!
//! Deviations from a textbook's procedures, and why:
//! 1. A cell without a value of ours agrees with nothing: each pair that it is in counts against us.
//! 2. Print has no replications. What noise costs is shown by a repetition of ours with other seeds, judged against ours.
//! 3. Cells of one table are not independent; the interval of the bias takes them as if they were, and is too narrow.
//! 4. Order alone cannot tell a law from a wrong one: without denoising table 8.4 has more pairs in order than with it. Skill
//!    can, and the page shows both.

pub mod conclusion;
pub mod equivalence;
pub mod order;
pub mod page;
pub mod picture;
pub mod quantity;
pub mod shape;
pub mod size;

use quantity::Quantity;
use serde::Serialize;

/// A quantity of fewer cells is not judged: five pairs of one cell move each figure by a tenth and more.
pub const FEWEST_CELLS: usize = 6;

/// The agreement of one printed quantity with ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// `PAPER/FIGURE`.
    pub figure: String,
    /// The quantity's name in the figure.
    pub quantity: String,
    /// Number of printed cells.
    pub cells: usize,
    /// Cells without a value of ours.
    pub missing: usize,
    /// Runs of each cell: the stored one and its repetitions.
    pub runs: usize,
    /// Factor of one standard deviation of one run; none without repetitions.
    pub noise_factor: Option<f64>,
    /// Order of all pairs.
    pub order: order::Order,
    /// Order of the pairs in one column: who comes before whom under equal conditions.
    pub order_in_columns: order::Order,
    /// Order of the means of our columns against print.
    pub order_of_column_means: order::Order,
    /// Order of a repetition against ours, of all pairs; none without one.
    pub order_again: Option<order::Order>,
    /// Kendall's tau-b; none where one side is constant.
    pub tau: Option<f64>,
    /// Correlation without the effects of rows and columns; none where nothing is left.
    pub interaction: Option<f64>,
    /// Bias, limits and skill; none for fewer than two values of ours.
    pub size: Option<size::Size>,
    /// Equivalence of the cells; none where a constant would meet all, or without repetitions.
    pub equivalence: Option<equivalence::Equivalence>,
}

impl Agreement {
    /// Judges a quantity; none for fewer than [`FEWEST_CELLS`].
    pub fn of(quantity: &Quantity) -> Option<Agreement> {
        (quantity.cells.len() >= FEWEST_CELLS).then(|| Agreement {
            figure: quantity.figure.clone(),
            quantity: quantity.name.clone(),
            cells: quantity.cells.len(),
            missing: quantity.cells.iter().filter(|cell| cell.ours().is_none()).count(),
            runs: quantity.cells.iter().map(|cell| cell.runs.len()).min().unwrap_or(0),
            noise_factor: quantity.noise().map(f64::exp),
            order: order::of_pairs(quantity, |_, _| true),
            order_in_columns: order::of_pairs(quantity, |one, other| one.column == other.column),
            order_of_column_means: order::of_column_means(quantity),
            order_again: order::of_repetition(quantity),
            tau: order::tau(&quantity.pairs()),
            interaction: shape::interaction(quantity),
            size: size::Size::of(&quantity.pairs()),
            equivalence: equivalence::Equivalence::of(quantity),
        })
    }
}
