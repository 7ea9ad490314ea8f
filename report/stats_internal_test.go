package report

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The naive reference for the sum: every value as a rational number.
func rationalMean(vs []float64) float64 {
	sum := new(big.Rat)
	for _, v := range vs {
		sum.Add(sum, new(big.Rat).SetFloat64(v))
	}
	f, _ := sum.Float64()
	return f / float64(len(vs))
}

func TestExactSumIsTheRoundedTrueSum(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		vs := rapid.SliceOfN(rapid.Float64Range(-1e100, 1e100), 1, 40).Draw(rt, "values")
		var s exactSum
		for _, v := range vs {
			s.add(v)
		}
		// Below 2^-990 the scaling may lose bits, which no score can show.
		if got, want := s.over(len(vs)), rationalMean(vs); math.Abs(got-want) > 0x1p-990 {
			rt.Fatalf("mean %v, want %v", got, want)
		}
	})
}

func TestExactSumWhereAPlainSumGoesWrong(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{1e100, 1, -1e100}, 1.0 / 3},
		{[]float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, 0.1},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, math.MaxFloat64},
		{[]float64{1, 0x1p-60, -1}, 0x1p-60 / 3},
	} {
		var s exactSum
		for _, v := range c.values {
			s.add(v)
		}
		if got := s.over(len(c.values)); got != c.want {
			t.Errorf("mean of %v is %v, want %v", c.values, got, c.want)
		}
	}
	// 17 of 20, made of thirds: exactly 0.85, so a gate at 0.85 holds.
	var s exactSum
	for range 6 {
		s.add(1.0 / 3)
		s.add(2.0 / 3)
		s.add(1)
	}
	for _, v := range []float64{1, 0, 1, 1, 1, 1} {
		s.add(v)
	}
	if got := s.over(20); got != 0.85 {
		t.Errorf("mean %v, want exactly 0.85", got)
	}
}

func TestMomentsAgreeWithTheFormulas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		vs := rapid.SliceOfN(rapid.Float64Range(0, 1), 2, 100).Draw(rt, "values")
		var m moments
		for _, v := range vs {
			m.add(v)
		}
		mean := rationalMean(vs)
		ss := 0.0
		for _, v := range vs {
			ss += (v - mean) * (v - mean)
		}
		want := math.Sqrt(ss / float64(len(vs)-1))
		if sd := m.deviation(); math.Abs(*sd-want) > 1e-12 {
			rt.Fatalf("deviation %v, want %v", *sd, want)
		}
		// The scaling may lose digits of values below 2^-990.
		if math.Abs(*m.mean()-mean) > 0x1p-990 || m.min != slices.Min(vs) || m.max != slices.Max(vs) {
			rt.Fatalf("mean %v (want %v), range %v to %v", *m.mean(), mean, m.min, m.max)
		}
	})
}

// naiveBootstrap resamples as a textbook says, with indices from another
// generator: it must give the same interval but for the noise of resampling.
func naiveBootstrap(vs []float64, resamples int) Interval {
	rng := rand.New(rand.NewPCG(99, 99))
	means := make([]float64, resamples)
	for b := range means {
		sum := 0.0
		for range vs {
			sum += vs[rng.IntN(len(vs))]
		}
		means[b] = sum / float64(len(vs))
	}
	slices.Sort(means)
	return Interval{means[int(0.025*float64(resamples))], means[int(0.975*float64(resamples))]}
}

func TestBootstrapAgreesWithANaiveOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	uniform, skewed, odd := make([]float64, 100), make([]float64, 400), make([]float64, 31)
	for i := range uniform {
		uniform[i] = rng.Float64()
	}
	for i := range skewed {
		skewed[i] = math.Pow(rng.Float64(), 6)
	}
	for i := range odd {
		odd[i] = float64(i % 5)
	}
	for name, vs := range map[string][]float64{"uniform": uniform, "skewed": skewed, "odd": odd} {
		got, want := bootstrap(vs, 1, name), naiveBootstrap(vs, 50000)
		// The bounds of 2,000 resamples scatter by less than a twelfth of the
		// interval's width (3 standard errors of the 2.5 % quantile).
		noise := (want.Hi - want.Lo) / 12
		if math.Abs(got.Lo-want.Lo) > noise || math.Abs(got.Hi-want.Hi) > noise {
			t.Errorf("%s: interval %v, a naive bootstrap gives %v", name, got, want)
		}
	}
}

// With two values the distribution is known: the mean is 0, 0.5 or 1 with
// probability 1/4, 1/2, 1/4.
func TestBootstrapOfTwoValues(t *testing.T) {
	if got := bootstrap([]float64{1, 0}, 0, "x"); got != (Interval{0, 1}) {
		t.Errorf("interval %v", got)
	}
}

func TestBootstrapIsSeededByScopeAndSeed(t *testing.T) {
	vs := make([]float64, 50)
	for i := range vs {
		vs[i] = math.Sqrt(float64(i))
	}
	a := bootstrap(vs, 1, "faithfulness")
	if b := bootstrap(vs, 1, "faithfulness"); a != b {
		t.Errorf("the same seed gave %v and %v", a, b)
	}
	if a == bootstrap(vs, 2, "faithfulness") || a == bootstrap(vs, 1, "mrr") {
		t.Error("another seed or name gave the same interval")
	}
	slices.Reverse(vs)
	if b := bootstrap(vs, 1, "faithfulness"); a != b {
		t.Errorf("another order gave %v, not %v", b, a)
	}
}

// The 95 % intervals hold the true mean in about 95 of 100 draws, both methods.
func TestIntervalsCoverTheTrueMean(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation")
	}
	for _, keep := range []int{1000, 0} {
		rng := rand.New(rand.NewPCG(11, 12))
		const draws, n = 400, 100
		hit := 0
		for range draws {
			m := moments{keep: keep}
			for range n {
				m.add(float64(rng.IntN(5)) / 4)
			}
			iv, _ := m.interval(rng.Uint64(), "x")
			if iv.Lo <= 0.5 && 0.5 <= iv.Hi {
				hit++
			}
		}
		// 95 % +- 4 standard errors (1.1 points each).
		if share := float64(hit) / draws; share < 0.905 || share > 0.99 {
			t.Errorf("keep %d: %v of the intervals hold the true mean", keep, share)
		}
	}
}

func TestIntervalMethods(t *testing.T) {
	many := make([]float64, 0, BootstrapMax+1)
	for i := range BootstrapMax + 1 {
		many = append(many, float64(i%2))
	}
	for _, c := range []struct {
		name   string
		values []float64
		method string
		want   *Interval
	}{
		{"none", nil, MethodNone, nil},
		{"one", []float64{0.5}, MethodNone, nil},
		{"equal", []float64{0.5, 0.5, 0.5}, MethodNoSpread, &Interval{0.5, 0.5}},
		{"too large", []float64{math.MaxFloat64, -math.MaxFloat64}, MethodNone, nil},
		{"bound", many[:BootstrapMax], MethodBootstrap, nil},
		{"above", many, MethodNormal, nil},
	} {
		m := moments{keep: BootstrapMax}
		for _, v := range c.values {
			m.add(v)
		}
		iv, method := m.interval(3, c.name)
		if method != c.method {
			t.Errorf("%s: method %s, want %s", c.name, method, c.method)
		}
		if (iv == nil) != (method == MethodNone) || c.want != nil && *iv != *c.want {
			t.Errorf("%s: interval %v", c.name, iv)
		}
		if method == MethodBootstrap || method == MethodNormal {
			// sqrt(p(1-p)/n) x 1.96 around one half
			half := 1.96 * math.Sqrt(0.25/float64(m.n))
			if math.Abs(iv.Lo-(0.5-half)) > 0.003 || math.Abs(iv.Hi-(0.5+half)) > 0.003 {
				t.Errorf("%s: interval %v, want 0.5 +- %v", c.name, *iv, half)
			}
		}
		if len(m.kept) > BootstrapMax || method == MethodNormal && m.kept != nil {
			t.Errorf("%s: %d values kept", c.name, len(m.kept))
		}
	}
}

func TestNormalIntervalStaysWithinTheValues(t *testing.T) {
	m := moments{}
	m.add(0)
	for range 3000 {
		m.add(1)
	}
	if iv, method := m.interval(0, "x"); method != MethodNormal || iv.Hi != 1 || iv.Lo >= *m.mean() {
		t.Errorf("%s %v", method, iv)
	}
}
