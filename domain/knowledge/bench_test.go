package knowledge_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/callboard/callboard/domain/knowledge"
)

// BenchmarkSearch measures building an index and searching with eight words, for several numbers of passages of
// about 850 characters.
func BenchmarkSearch(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	vocabulary := make([]string, 8000)
	for i := range vocabulary {
		vocabulary[i] = fmt.Sprintf("w%xo%x", r.IntN(1<<16), i)
	}
	some := func(n int) string { // few words are frequent
		out := make([]string, n)
		for i := range out {
			out[i] = vocabulary[int(float64(len(vocabulary))*r.Float64()*r.Float64()*r.Float64())]
		}
		return strings.Join(out, " ")
	}
	for _, n := range []int{100, 1000, 9800} {
		all := make([]knowledge.Passage, n)
		for i := range all {
			all[i] = knowledge.Passage{Heading: some(3), Text: some(110)}
		}
		build := func() *knowledge.Index {
			var x knowledge.Index
			for i, p := range all {
				x.Add(0, i, p, nil)
			}
			return &x
		}
		b.Run(fmt.Sprintf("build/%d", n), func(b *testing.B) {
			for b.Loop() {
				build()
			}
		})
		x := build()
		b.Run(fmt.Sprintf("search/%d", n), func(b *testing.B) {
			for b.Loop() {
				s := knowledge.NewSearch[int](some(8))
				s.AddIndex(0, x, nil)
				s.BestHits(4)
			}
			b.ReportMetric(float64(x.Bytes())/1e6, "MB")
		})
	}
}
