package persistence

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
)

// CounterAdd adds Deltas to the numbers of a counter row and creates the row if it does not exist. The value of a
// counter row is Prefix, the numbers in decimal with commas between them, and "]}". A counter row is in no list, and no
// Put writes it. If the stored value does not begin with Prefix, the commit fails with ErrMalformed. Each number must
// stay within ±2^53.
type CounterAdd struct {
	Key    Key
	Prefix []byte
	Deltas []int64
}

// counterSuffix is the end of the value of a counter row, after the numbers.
const counterSuffix = "]}"

// ApplyTo returns the value of the counter row after the addition. A nil value means that the row does not exist.
func (a CounterAdd) ApplyTo(value []byte) ([]byte, error) {
	sums := slices.Clone(a.Deltas)
	if value != nil {
		rest, ok := bytes.CutPrefix(value, a.Prefix)
		rest, ok2 := bytes.CutSuffix(rest, []byte(counterSuffix))
		if !ok || !ok2 {
			return nil, fmt.Errorf("%w: %s %s is not a counter row with this prefix", ErrMalformed, a.Key.Table, a.Key.ID)
		}
		i := 0
		for text := range bytes.SplitSeq(rest, []byte(",")) {
			n, err := strconv.ParseInt(string(text), 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%w: counter row %s %s has an invalid number", ErrMalformed, a.Key.Table, a.Key.ID)
			}
			if i == len(sums) {
				sums = append(sums, 0)
			}
			sums[i] += n
			i++
		}
	}
	out := slices.Clone(a.Prefix)
	for i, n := range sums {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, n, 10)
	}
	return append(out, counterSuffix...), nil
}

// DeltaText returns the deltas in decimal with commas between them.
func (a CounterAdd) DeltaText() string {
	var out []byte
	for i, n := range a.Deltas {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, n, 10)
	}
	return string(out)
}

func (a CounterAdd) check() error {
	if err := a.Key.check(); err != nil {
		return err
	}
	if len(a.Deltas) == 0 || len(a.Prefix) == 0 || len(a.Prefix)+20*len(a.Deltas) > MaxValue {
		return fmt.Errorf("%w: a counter row with %d numbers and a prefix of %d bytes", ErrMalformed, len(a.Deltas), len(a.Prefix))
	}
	return nil
}
