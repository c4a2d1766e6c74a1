package dnc_test

import (
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	register "github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebble"
)

// BenchmarkList imports a list, reads it after a restart, and looks up listed and unlisted numbers. The environment variable
// DNC_NUMBERS sets the size of the list. Default: 10 million.
func BenchmarkList(b *testing.B) {
	total := uint64(10_000_000)
	if n, err := strconv.ParseUint(os.Getenv("DNC_NUMBERS"), 10, 64); err == nil {
		total = n
	}
	d, err := pebble.Open(b.TempDir(), pebble.Options{})
	require.NoError(b, err)
	s, err := persistence.NewStore(b.Context(), d, make([]byte, persistence.MasterKeySize), "me")
	require.NoError(b, err)
	r := register.New(s, fakeHash, nil)
	r.AddEmptyList(ws, defaultList)
	number := func(i uint64) uint64 { return 12000000000 + i*7919%800000000 }
	begun := time.Now()
	batch := make([]uint64, 0, 1<<20)
	for i := range total {
		if batch = append(batch, number(i)); len(batch) == cap(batch) || i == total-1 {
			_, err := r.AddNumbers(b.Context(), ws, defaultList, batch, origin)
			require.NoError(b, err)
			batch = batch[:0]
		}
	}
	imported := time.Since(begun)
	before := heapBytes()
	begun = time.Now()
	r = register.New(s, fakeHash, nil)
	require.NoError(b, r.LoadList(b.Context(), ws, defaultList))
	loaded, size := time.Since(begun), heapBytes()-before
	b.Run("import and load", func(b *testing.B) { // reports the measurements above, because a benchmark with sub-benchmarks shows no result itself
		b.ReportMetric(imported.Seconds(), "import_s")
		b.ReportMetric(loaded.Seconds(), "load_s")
		b.ReportMetric(float64(size)/1e6, "filter_MB")
	})
	b.Run("not listed", func(b *testing.B) {
		b.ReportAllocs()
		hits, i := 0, uint64(0)
		for b.Loop() {
			i++
			if r.MayBeListed(ws, scrub, 49000000000+i) {
				hits++
			}
		}
		b.ReportMetric(float64(hits)/float64(i)*100, "%store")
	})
	b.Run("listed", func(b *testing.B) {
		b.ReportAllocs()
		i := uint64(0)
		for b.Loop() {
			i++
			if hit, err := r.FindMatch(b.Context(), ws, scrub, number(i%total)); err != nil || hit == nil {
				b.Fatal(hit, err)
			}
		}
	})
	runtime.KeepAlive(r)
	require.NoError(b, d.Close())
}

func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
