package landfall

import (
	"math/big"
	"time"
)

// Share is a part of a whole in ten-thousandths.
type Share int

// Estimate is what a sample says about all accounts: the share that passes, and
// its 95 % confidence interval.
type Estimate struct{ Share, Low, High Share }

// Estimate returns what a run over a sample says about all accounts, by Wilson's
// score interval; false when it was no sample or nothing was tried. Refused
// accounts do not count.
func (r *Run) Estimate() (Estimate, bool) {
	tried := r.Tally.Succeeded + r.Tally.Failed
	if r.Plan.Sample <= 1 || tried == 0 {
		return Estimate{}, false
	}
	return wilson(int64(r.Tally.Succeeded), int64(tried)), true
}

const (
	fullShare = 10_000
	// zSquared is 1.959964², in ten-thousandths: 95 % of a normal distribution.
	zSquared = 38_415
)

// wilson uses integer arithmetic throughout, in ten-thousandths:
// (2s + z² ± √(z²(z² + 4s(n−s)/n))) / 2(n + z²).
func wilson(passed, tried int64) Estimate {
	n, s, z2 := big.NewInt(tried), big.NewInt(passed), big.NewInt(zSquared)
	times := func(a *big.Int, b int64) *big.Int { return new(big.Int).Mul(a, big.NewInt(b)) }
	inner := times(new(big.Int).Mul(s, new(big.Int).Sub(n, s)), 4*fullShare)
	inner.Quo(inner, n).Add(inner, z2).Mul(inner, z2)
	root := new(big.Int).Sqrt(inner)
	middle := new(big.Int).Add(times(s, 2*fullShare), z2)
	bottom := times(new(big.Int).Add(times(n, fullShare), z2), 2)
	share := func(top *big.Int) Share {
		// Rounded to the nearest.
		twice := new(big.Int).Add(times(top, 2*fullShare), bottom)
		return Share(twice.Quo(twice, times(bottom, 2)).Int64())
	}
	return Estimate{
		Share: Share((passed*2*fullShare + tried) / (2 * tried)),
		Low:   max(0, share(new(big.Int).Sub(middle, root))),
		High:  min(fullShare, share(new(big.Int).Add(middle, root))),
	}
}

// PerThousandSeconds is how many accounts a run finishes in a thousand seconds; 0
// when that is not known yet.
func (r *Run) PerThousandSeconds() int64 {
	micros := r.RunningTime.Microseconds()
	if micros <= 0 {
		return 0
	}
	rate := big.NewInt(int64(r.Tally.Done()))
	rate.Mul(rate, big.NewInt(1_000_000_000)).Quo(rate, big.NewInt(micros))
	return rate.Int64()
}

// ExpectedEnd estimates when a running run ends, at its average rate so far; zero
// when that is unknown.
func (r *Run) ExpectedEnd() time.Time {
	rate := r.PerThousandSeconds()
	if r.State != RunRunning || rate <= 0 {
		return time.Time{}
	}
	left := big.NewInt(int64(r.Tally.Remaining()))
	left.Mul(left, big.NewInt(1000)).Quo(left, big.NewInt(rate))
	const century = 100 * 365 * 24 * 3600 // a rate near zero at the beginning says nothing
	if left.Cmp(big.NewInt(century)) > 0 {
		return time.Time{}
	}
	return r.ReadAt.Add(time.Duration(left.Int64()) * time.Second)
}
