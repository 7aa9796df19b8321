//! Mean and 95 % confidence interval over replications, by Student's t.
//!
//! To be replaced by the results crate's own as soon as it has one: nothing else in this crate knows the formula.

/// 97.5 % quantiles of Student's t for 1 to 30 degrees of freedom.
const T_975: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// A mean over replications and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval; `None` with a single value.
    pub half: Option<f64>,
}

/// The mean of the finite ones among `values` with its interval; `None` if there is none.
pub fn interval(values: impl IntoIterator<Item = f64>) -> Option<Interval> {
    let values: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
    let n = values.len();
    if n == 0 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    if n == 1 {
        return Some(Interval { mean, half: None });
    }
    if values.iter().all(|v| *v == values[0]) {
        return Some(Interval { mean: values[0], half: Some(0.0) });
    }
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1) as f64;
    Some(Interval { mean, half: Some(t_975(n - 1) * (variance / n as f64).sqrt()) })
}

/// Above the table: the first two terms of the expansion in 1/n, right to 0.1 %.
fn t_975(degrees: usize) -> f64 {
    T_975.get(degrees - 1).copied().unwrap_or(1.95996 + 2.3722 / degrees as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_values_give_the_interval_worked_by_hand() {
        // mean 2, s = 1, t(2) = 4.303: half = 4.303 / sqrt(3) = 2.48434
        let found = interval([1.0, 2.0, 3.0]).unwrap();
        assert_eq!(found.mean, 2.0);
        assert!((found.half.unwrap() - 2.48434).abs() < 1e-5);
    }

    #[test]
    fn one_value_has_no_interval_and_none_has_no_mean() {
        assert_eq!(interval([5.0]), Some(Interval { mean: 5.0, half: None }));
        assert_eq!(interval([f64::NAN]), None);
    }

    #[test]
    fn equal_values_have_an_interval_of_exactly_zero() {
        assert_eq!(interval([0.9; 3]), Some(Interval { mean: 0.9, half: Some(0.0) }));
    }

    #[test]
    fn beyond_the_table_t_agrees_with_published_quantiles() {
        for (degrees, published) in [(40, 2.0211), (60, 2.0003), (120, 1.9799)] {
            assert!((t_975(degrees) - published).abs() < 0.003, "{degrees}");
        }
    }
}
