//! The wait of a request for one die.
//!
//! One server, Poisson arrivals, no limit on the queue. Waits are from arrival to the start of service.

use crate::Result;
use crate::numeric::{bisect, within};

/// A class of customers or of background steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// Arrivals in a unit of time.
    pub rate: f64,
    /// E\[S\], the mean service time.
    pub mean: f64,
    /// E\[S²\], the mean of the squared service time.
    pub second_moment: f64,
}

impl Class {
    /// A class whose service times are all equal.
    pub fn constant(rate: f64, service: f64) -> Self {
        Self { rate, mean: service, second_moment: service * service }
    }

    /// A class with one rate and several service times: each has a share (shares add up to 1) and a service time.
    pub fn mixed(rate: f64, parts: &[(f64, f64)]) -> Self {
        let mean = parts.iter().map(|(share, service)| share * service).sum();
        let second_moment = parts.iter().map(|(share, service)| share * service * service).sum();
        Self { rate, mean, second_moment }
    }

    /// ρ = λ·E\[S\].
    pub fn load(&self) -> f64 {
        self.rate * self.mean
    }
}

fn stable(load: f64) -> Result<f64> {
    within("a load", load, (0.0..1.0).contains(&load), "0 or more, below 1")
}

/// M/D/1, mean wait in service times: Wq/S = ρ / (2(1 − ρ)). Domain: 0 ≤ ρ < 1.
///
/// Source: Pollaczek 1930, Khinchine 1932.
///
/// # Errors
/// Outside the domain.
pub fn m_d_1_mean_wait(load: f64) -> Result<f64> {
    stable(load).map(|load| load / (2.0 * (1.0 - load)))
}

/// M/D/1: the probability that a wait is at most `wait` service times.
///
/// P(W ≤ x) = e^(−ρ(k − x)) · Σ_{j=0}^{k−1} Q_{k−1−j}·(ρ(k − x))^j / j! for k − 1 ≤ x < k, where Q_n is the probability
/// that at most n customers wait. All terms are positive, so that no digits cancel. In the older alternating sum
/// (Crommelin 1932; Erlang 1909), they do at high loads. Domain: 0 ≤ ρ < 1, waits below 10,000 service times.
///
/// Source: Franx 2001.
///
/// # Errors
/// Outside the domain.
pub fn m_d_1_wait_probability(load: f64, wait: f64) -> Result<f64> {
    let load = stable(load)?;
    within("a wait", wait, wait < 1e4, "below 10,000 service times")?;
    if wait < 0.0 {
        return Ok(0.0);
    }
    let k = wait.floor() as usize + 1;
    Ok(franx(load, &waiting_at_most(load, k), wait))
}

fn franx(load: f64, waiting_at_most: &[f64], wait: f64) -> f64 {
    let k = wait.floor() as usize + 1;
    let z = load * (k as f64 - wait);
    let (mut term, mut sum) = (libm::exp(-z), 0.0);
    for j in 0..k {
        sum += term * waiting_at_most[k - 1 - j];
        term *= z / (j + 1) as f64;
    }
    sum
}

/// Q_0 … Q_{count−1} of M/D/1: the probability that at most n customers wait.
///
/// From the balance of the number of customers after departures: it rises above n as often as it falls back to n:
/// p_{n+1}·a_0 = p_0·P(a > n) + Σ_{i=1}^{n} p_i·P(a > n + 1 − i), where p_n is the probability that n customers are in
/// the system, a the number of arrivals in a service time, and a_0 = P(a = 0). All terms are positive here, too.
fn waiting_at_most(load: f64, count: usize) -> Vec<f64> {
    // P(a > n) from the far end, where the terms are smallest.
    let far = count + 40;
    let mut arrivals = vec![libm::exp(-load)];
    for j in 1..=far {
        arrivals.push(arrivals[j - 1] * load / j as f64);
    }
    let mut more_than = vec![0.0; far + 1];
    for n in (0..far).rev() {
        more_than[n] = more_than[n + 1] + arrivals[n + 1];
    }
    let mut in_system = vec![1.0 - load];
    for n in 0..count {
        let from_below = (1..=n).map(|i| in_system[i] * more_than[n + 1 - i]).sum::<f64>();
        in_system.push((in_system[0] * more_than[n] + from_below) / arrivals[0]);
    }
    // One of the customers in the system is in service.
    let mut sum = in_system[0];
    in_system[1..]
        .iter()
        .map(|p| {
            sum += p;
            sum
        })
        .collect()
}

/// M/D/1: the wait, in service times, that a share `quantile` of the customers does not exceed. Domain: 0 ≤ ρ < 0.995,
/// 0 ≤ quantile < 0.999999.
///
/// Source: as [`m_d_1_wait_probability`], solved for the wait.
///
/// # Errors
/// Outside the domain.
pub fn m_d_1_wait_percentile(load: f64, quantile: f64) -> Result<f64> {
    let load = stable(load)?;
    within("a quantile", quantile, (0.0..0.999_999).contains(&quantile), "0 or more, below 0.999999")?;
    // The tail falls by a factor of about e^(2(1 − ρ)/ρ) in a service time, so a share of 10^-6 waits for about 7ρ/(1 −
    // ρ) service times. The bound is at least twice that.
    let longest = (16.0 + 8.0 * load / (1.0 - load)).ceil() * 2.0;
    within("a load", load, longest < 5e3, "0 or more, below 0.995, for percentiles")?;
    let queue = waiting_at_most(load, longest as usize + 1);
    Ok(bisect(0.0, longest, |wait| franx(load, &queue, wait) - quantile))
}

/// The mean remaining service time of the customer in service, over all arrivals: W0 = ½·Σ λ_i·E\[S_i²\].
fn residual(classes: &[Class]) -> f64 {
    0.5 * classes.iter().map(|c| c.rate * c.second_moment).sum::<f64>()
}

/// M/G/1, first come first served: Wq = W0 / (1 − ρ), W0 = ½·Σ λ_i·E\[S_i²\], the same for every class. Domain: ρ < 1.
///
/// Source: Pollaczek 1930, Khinchine 1932.
///
/// # Errors
/// Outside the domain.
pub fn m_g_1_mean_wait(classes: &[Class]) -> Result<f64> {
    let load = stable(classes.iter().map(Class::load).sum())?;
    Ok(residual(classes) / (1.0 - load))
}

/// M/G/1 with non-preemptive priorities, the first class first: W_i = W0 / ((1 − σ_{i−1})·(1 − σ_i)), where σ_i is the
/// load of the classes up to i. For reads over writes: W_R = W0/(1 − ρ_R), W_W = W0/((1 − ρ_R)(1 − ρ)). Domain: ρ < 1.
///
/// Source: Cobham 1954.
///
/// # Errors
/// Outside the domain.
pub fn priority_mean_waits(classes: &[Class]) -> Result<Vec<f64>> {
    stable(classes.iter().map(Class::load).sum())?;
    let w0 = residual(classes);
    let mut before = 0.0;
    let wait = |class: &Class| {
        let up_to = before + class.load();
        let wait = w0 / ((1.0 - before) * (1.0 - up_to));
        before = up_to;
        wait
    };
    Ok(classes.iter().map(wait).collect())
}

/// M/G/1 with background work: if no customer waits, the server starts a step of it, which it cannot interrupt. W =
/// ½·λ·E\[S²\]/(1 − ρ) + E\[V²\]/(2·E\[V\]), where V is the time of a step. `step.rate` is not used: there is
/// always another step. Domain: ρ < 1.
///
/// Source: multiple vacations; Levy and Yechiali 1975.
///
/// # Errors
/// Outside the domain.
pub fn vacations_mean_wait(customers: Class, step: Class) -> Result<f64> {
    Ok(m_g_1_mean_wait(&[customers])? + step.second_moment / (2.0 * step.mean))
}

/// M/G/1 whose server never stops its background work, but polls the queue between two steps. It serves the customers
/// that wait at that moment; customers that arrive meanwhile wait for the next poll. W = ½·λ·E\[S²\]/(1 − ρ) +
/// E\[V²\]/(2·E\[V\]) + ρ·E\[V\]/(1 − ρ). `step.rate` is not used: there is always another step. Domain: ρ < 1.
///
/// The last term, X, is in addition to [`vacations_mean_wait`]. The server serves for the share ρ of the time. A
/// customer that arrives then waits for a whole additional step: ρ·E\[V\]. Longer waits also mean that more customers
/// are ahead of an arrival, and their services take ρ·X: X = ρ·E\[V\] + ρ·X.
///
/// Source: gated service with multiple vacations; Takagi 1991.
///
/// # Errors
/// Outside the domain.
pub fn gated_vacations_mean_wait(customers: Class, step: Class) -> Result<f64> {
    let load = stable(customers.load())?;
    Ok(vacations_mean_wait(customers, step)? + load * step.mean / (1.0 - load))
}

/// Reads that interrupt all other work at once and at no cost: W_R = ½·λ_R·E\[S_R²\]/(1 − ρ_R). Ideal suspension of
/// programs and erases gives this. Domain: ρ_R < 1.
///
/// Source: preemptive-resume priority, the first class.
///
/// # Errors
/// Outside the domain.
pub fn ideal_suspend_mean_wait(reads: Class) -> Result<f64> {
    m_g_1_mean_wait(&[reads])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, expected: f64, error: f64) {
        assert!((value - expected).abs() <= error, "{value}, not {expected}");
    }

    #[test]
    fn percentiles_of_m_d_1_are_those_of_the_table() {
        for (load, p99, p99_9) in [(0.5, 3.336, 5.168), (0.7, 6.486, 9.894), (0.9, 21.90, 33.01)] {
            // 6.4855 is tabulated as 6.486.
            let half_digit = if load > 0.8 { 5e-3 } else { 5.1e-4 };
            near(m_d_1_wait_percentile(load, 0.99).unwrap(), p99, half_digit);
            near(m_d_1_wait_percentile(load, 0.999).unwrap(), p99_9, half_digit);
        }
    }

    /// Franx' sum agrees with Crommelin's alternating sum, as long as that is exact.
    #[test]
    fn the_distribution_of_m_d_1_is_that_of_the_alternating_sum() {
        let crommelin = |load: f64, x: f64| {
            let term = |i: usize| {
                let z = load * (i as f64 - x);
                let factorial: f64 = (1..=i).map(|j| j as f64).product();
                libm::pow(z, i as f64) / factorial * libm::exp(-z)
            };
            (1.0 - load) * (0..=x as usize).map(term).sum::<f64>()
        };
        for load in [0.1, 0.3, 0.5, 0.7, 0.9] {
            for x in [0.0, 0.25, 0.999, 1.0, 1.5, 2.0, 3.75, 6.5] {
                near(m_d_1_wait_probability(load, x).unwrap(), crommelin(load, x), 1e-12);
            }
        }
        assert_eq!(m_d_1_wait_probability(0.5, -0.1), Ok(0.0));
    }

    /// The mean is the integral of the tail.
    #[test]
    fn the_distribution_of_m_d_1_has_the_mean_of_pollaczek_and_khinchine() {
        for load in [0.3, 0.5, 0.7, 0.9] {
            let queue = waiting_at_most(load, 400);
            let steps_per_service = 200;
            let tail = |i: usize| 1.0 - franx(load, &queue, (i as f64 + 0.5) / f64::from(steps_per_service));
            let mean = (0..350 * steps_per_service as usize).map(tail).sum::<f64>() / f64::from(steps_per_service);
            near(mean, m_d_1_mean_wait(load).unwrap(), 1e-4);
        }
    }

    #[test]
    fn equal_services_and_one_class_are_the_simple_case() {
        let class = Class::constant(0.7, 1.0);
        near(m_g_1_mean_wait(&[class]).unwrap(), m_d_1_mean_wait(0.7).unwrap(), 1e-12);
        near(priority_mean_waits(&[class]).unwrap()[0], m_d_1_mean_wait(0.7).unwrap(), 1e-12);
        near(ideal_suspend_mean_wait(class).unwrap(), m_d_1_mean_wait(0.7).unwrap(), 1e-12);
    }

    #[test]
    fn priorities_keep_the_weighted_sum_of_waits() {
        let (reads, writes) = (Class::constant(0.4, 1.0), Class::mixed(0.05, &[(0.5, 4.0), (0.5, 8.0)]));
        let waits = priority_mean_waits(&[reads, writes]).unwrap();
        let fifo = m_g_1_mean_wait(&[reads, writes]).unwrap();
        assert!(waits[0] < fifo && fifo < waits[1]);
        // Kleinrock's conservation law: Σ ρ_i·W_i does not depend on the order.
        let (r, w) = (reads.load(), writes.load());
        near(r * waits[0] + w * waits[1], (r + w) * fifo, 1e-12);
        near(waits[0], (0.5 * (0.4 + 0.05 * 40.0)) / (1.0 - 0.4), 1e-12);
    }

    #[test]
    fn steps_of_background_work_cost_what_the_table_says() {
        let wait = |load, step| vacations_mean_wait(Class::constant(load, 1.0), Class::constant(0.0, step)).unwrap();
        near(wait(0.5, 4.0), 2.500, 1e-12);
        // If no customer waits before it, a read waits only for the rest of a step.
        near(wait(0.0, 4.0), 2.0, 1e-12);
    }

    /// Splitmix64 (Steele, Lea and Flood 2014), as numbers from 0 to 1.
    fn uniform(state: &mut u64) -> f64 {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Mean wait behind a gate, simulated customer by customer from the definition. Services and steps have one of two
    /// lengths, with equal chances.
    fn simulated_gated_wait(rate: f64, service: [f64; 2], step: [f64; 2], customers: u32) -> f64 {
        let random = &mut 1;
        let gap = |random: &mut u64| -libm::log(1.0 - uniform(random)) / rate;
        let one_of = |lengths: [f64; 2], random: &mut u64| lengths[usize::from(uniform(random) < 0.5)];
        let (mut now, mut arrival, mut waits, mut served) = (0.0, gap(random), 0.0, 0);
        while served < customers {
            let gate = now;
            while arrival <= gate {
                waits += now - arrival;
                now += one_of(service, random);
                arrival += gap(random);
                served += 1;
            }
            now += one_of(step, random);
        }
        waits / f64::from(served)
    }

    #[test]
    fn a_gate_costs_what_customers_wait_one_by_one() {
        let class = |load, lengths: [f64; 2]| Class::mixed(load, &lengths.map(|length| (0.5, length)));
        for (load, step) in [(0.3, [4.0, 4.0]), (0.5, [4.0, 4.0]), (0.7, [2.0, 2.0]), (0.5, [1.0, 7.0])] {
            for service in [[1.0, 1.0], [0.4, 1.6]] {
                let theory = gated_vacations_mean_wait(class(load, service), class(load, step)).unwrap();
                let simulated = simulated_gated_wait(load, service, step, 2_000_000);
                // Two million customers leave a standard error of 0.1 to 0.3 %.
                near(simulated / theory, 1.0, 0.01);
            }
        }
    }

    #[test]
    fn a_gate_that_nobody_finds_closed_costs_nothing() {
        let (rare, step) = (Class::constant(0.0, 1.0), Class::constant(0.0, 4.0));
        near(gated_vacations_mean_wait(rare, step).unwrap(), vacations_mean_wait(rare, step).unwrap(), 1e-12);
        // Service takes half of the time: on average, a customer waits for one more step of 4.
        near(gated_vacations_mean_wait(Class::constant(0.5, 1.0), step).unwrap(), 2.5 + 4.0, 1e-12);
    }

    #[test]
    fn a_server_that_cannot_keep_up_has_no_mean_wait() {
        assert!(m_d_1_mean_wait(1.0).is_err() && m_d_1_wait_percentile(1.2, 0.99).is_err());
        assert!(m_g_1_mean_wait(&[Class::constant(2.0, 0.5)]).is_err());
        assert!(m_d_1_wait_percentile(0.5, 1.0).is_err());
    }
}
