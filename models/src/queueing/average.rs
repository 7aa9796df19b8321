//! An exponentially weighted average, and how it falls while nothing arrives.

/// `value += weight (sample - value)`, from zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Average {
    pub value: f64,
    weight: f64,
}

impl Average {
    pub fn new(weight: f64) -> Average {
        Average { value: 0.0, weight }
    }

    pub fn take(&mut self, sample: f64) {
        self.value += self.weight * (sample - self.value);
    }

    /// Takes `count` samples of zero at once.
    pub fn take_zeros(&mut self, count: u64) {
        self.value *= power(1.0 - self.weight, count);
    }
}

/// Returns `base^exponent` by squaring: only multiplications, so that the result is the same on every machine.
fn power(base: f64, exponent: u64) -> f64 {
    let (mut result, mut square, mut left) = (1.0, base, exponent);
    while left > 0 {
        if left & 1 == 1 {
            result *= square;
        }
        square *= square;
        left >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 + 0.25 (1 - 0) = 0.25; + 0.25 (0.5 - 0.25) = 0.3125; twice three quarters of it.
    #[test]
    fn the_average_moves_by_its_weight() {
        let mut average = Average::new(0.25);
        average.take(1.0);
        average.take(0.5);
        assert_eq!(average.value, 0.3125);
        average.take_zeros(2);
        assert_eq!(average.value, 0.3125 * 0.75 * 0.75);
    }

    #[test]
    fn many_zeros_at_once_equal_single_ones() {
        for count in [0, 1, 2, 7, 100, 1000] {
            let (mut at_once, mut one_by_one) = (Average::new(0.002), Average::new(0.002));
            (at_once.value, one_by_one.value) = (17.0, 17.0);
            at_once.take_zeros(count);
            (0..count).for_each(|_| one_by_one.take(0.0));
            assert!((at_once.value / one_by_one.value - 1.0).abs() < 1e-12, "{count}");
        }
        let mut average = Average::new(0.002);
        average.value = 17.0;
        average.take_zeros(u64::MAX);
        assert_eq!(average.value, 0.0);
    }
}
