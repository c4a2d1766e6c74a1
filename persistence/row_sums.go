package persistence

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
)

// Add raises the numbers of a row, which it makes where there is none: the
// value is Head, the numbers as decimal text with commas between, and "]}". Such
// a row stands in no list and is never put; a value that does not begin with
// Head is ErrMalformed, and nothing of the commit is written. No number may
// leave ±2^53.
type Add struct {
	Key  Key
	Head []byte
	By   []int64
}

// addEnd follows the numbers of a tally.
const addEnd = "]}"

// To is the value raised; nil stands for a row that is not there.
func (a Add) To(value []byte) ([]byte, error) {
	sums := slices.Clone(a.By)
	if value != nil {
		rest, ok := bytes.CutPrefix(value, a.Head)
		rest, ok2 := bytes.CutSuffix(rest, []byte(addEnd))
		if !ok || !ok2 {
			return nil, fmt.Errorf("%w: %s %s is no tally of this kind", ErrMalformed, a.Key.Table, a.Key.ID)
		}
		i := 0
		for text := range bytes.SplitSeq(rest, []byte(",")) {
			n, err := strconv.ParseInt(string(text), 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%w: %s %s holds no numbers", ErrMalformed, a.Key.Table, a.Key.ID)
			}
			if i == len(sums) {
				sums = append(sums, 0)
			}
			sums[i] += n
			i++
		}
	}
	out := slices.Clone(a.Head)
	for i, n := range sums {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, n, 10)
	}
	return append(out, addEnd...), nil
}

// Text are the numbers with commas between.
func (a Add) Text() string {
	var out []byte
	for i, n := range a.By {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, n, 10)
	}
	return string(out)
}

func (a Add) check() error {
	if err := a.Key.check(); err != nil {
		return err
	}
	if len(a.By) == 0 || len(a.Head) == 0 || len(a.Head)+20*len(a.By) > MaxValue {
		return fmt.Errorf("%w: a tally of %d numbers behind %d bytes", ErrMalformed, len(a.By), len(a.Head))
	}
	return nil
}
