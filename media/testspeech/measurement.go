package testspeech

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"
)

// Measurement is a measured value with its target, a row of the table of make dialogues.
type Measurement struct {
	Name    string
	Value   float64
	Unit    string
	Target  float64
	AtLeast bool // the value must be at least Target. Default: at most
}

// MeetsTarget reports whether the value meets its target. NaN, the value of nothing that was measured, does not.
func (f Measurement) MeetsTarget() bool {
	if f.AtLeast {
		return f.Value >= f.Target
	}
	return f.Value <= f.Target
}

// String returns the row.
func (f Measurement) String() string {
	bound, holds := "at most", "short"
	if f.AtLeast {
		bound = "at least"
	}
	if f.MeetsTarget() {
		holds = "ok"
	}
	return fmt.Sprintf("dialogues: %-72s %8s %-12s %8s %8s  %s", f.Name, decimal(f.Value), f.Unit, bound, decimal(f.Target), holds)
}

// Log prints the row, and fails the test if the value does not meet its target.
func (f Measurement) Log(t testing.TB) {
	t.Helper()
	if f.MeetsTarget() {
		t.Log(f)
	} else {
		t.Error(f)
	}
}

func decimal(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }

// Percentile returns the smallest value that is at least as large as p percent of the values, or NaN without values.
func Percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(int(math.Ceil(p/100*float64(len(sorted))))-1, 0)]
}

// Share returns how many percent part is of all, or NaN if all is 0.
func Share(part, all int) float64 { return 100 * float64(part) / float64(all) }
