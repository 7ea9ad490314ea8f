package llmtest

import (
	"crypto/sha256"
	"encoding/binary"
)

// FaultFunc decides what goes wrong with the nth chat request to arrive, from
// 1. It is called by many requests at the same time. A request that was refused
// before (wrong key, rate limit) has its number, but is not asked about.
type FaultFunc func(n int, r *Request) Fault

// Script lets the first request meet the first fault, the second the second,
// and so on; those after meet none. Fault{} leaves a request alone.
func Script(faults ...Fault) FaultFunc {
	return func(n int, _ *Request) Fault {
		if n > len(faults) {
			return Fault{}
		}
		return faults[n-1]
	}
}

// Every lets each kth request meet the fault; k below 1 is none.
func Every(k int, f Fault) FaultFunc {
	return func(n int, _ *Request) Fault {
		if k < 1 || n%k != 0 {
			return Fault{}
		}
		return f
	}
}

// Always lets each request meet the fault.
func Always(f Fault) FaultFunc { return func(int, *Request) Fault { return f } }

// OnFirstTryOf lets the first attempt of each request that contains text (in a
// message, or in the raw body) meet the fault.
func OnFirstTryOf(text string, f Fault) FaultFunc {
	return func(_ int, r *Request) Fault {
		if r.Attempt == 1 && r.contains(text) {
			return f
		}
		return Fault{}
	}
}

// On lets each attempt of each request that contains text (in a message, or in
// the raw body) meet the fault.
func On(text string, f Fault) FaultFunc {
	return func(_ int, r *Request) Fault {
		if r.contains(text) {
			return f
		}
		return Fault{}
	}
}

// Seeded lets requests meet one of the faults with the probability, 0 to 1. It
// depends on the seed, the body and the number of its attempt only, so that it
// does not matter in which order requests arrive.
func Seeded(seed uint64, probability float64, faults ...Fault) FaultFunc {
	return func(_ int, r *Request) Fault {
		h := sha256.New()
		var b [16]byte
		binary.LittleEndian.PutUint64(b[:8], seed)
		binary.LittleEndian.PutUint64(b[8:], uint64(r.Attempt))
		h.Write(b[:]) // a hash has no errors
		h.Write(r.Body)
		sum := h.Sum(nil)
		dice := float64(binary.LittleEndian.Uint64(sum)>>11) / (1 << 53)
		if len(faults) == 0 || dice >= probability {
			return Fault{}
		}
		return faults[binary.LittleEndian.Uint64(sum[8:])%uint64(len(faults))]
	}
}

// FirstOf asks one after the other, and takes the first fault.
func FirstOf(all ...FaultFunc) FaultFunc {
	return func(n int, r *Request) Fault {
		for _, f := range all {
			if got := f(n, r); got.name != "" {
				return got
			}
		}
		return Fault{}
	}
}
