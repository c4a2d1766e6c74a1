package dnc_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
)

var day = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// numbersIn returns n packed numbers that belong to a bucket.
func numbersIn(bucket, n int) []uint64 {
	var out []uint64
	for i := uint64(12025550100); len(out) < n; i++ {
		if dnc.BucketOf(i) == bucket {
			out = append(out, i)
		}
	}
	return out
}

func TestPackedNumberRoundTrip(t *testing.T) {
	for text, want := range map[string]uint64{"+12025550123": 12025550123, "+491701234567": 491701234567, "+999999999999999": 999999999999999} {
		n, err := dnc.PackNumber(text)
		require.NoError(t, err)
		assert.Equal(t, want, n)
		assert.Equal(t, text, dnc.UnpackNumber(n))
	}
	for _, text := range []string{"", "+", "12025550123", "+1 202", "+0123", "+1234567890123456", "++1", "+-1", "+1e5"} {
		_, err := dnc.PackNumber(text)
		assert.ErrorIs(t, err, dnc.ErrNumber, "%q", text)
	}
}

func TestNeighboringNumbersSpreadOverAllBuckets(t *testing.T) {
	count := make([]int, dnc.Buckets)
	for i := range uint64(dnc.Buckets * 100) {
		count[dnc.BucketOf(12025000000+i)]++
	}
	assert.Greater(t, slices.Min(count), 50)
	assert.Less(t, slices.Max(count), 160)
}

func TestBucketIsASetWithSources(t *testing.T) {
	numbers := numbersIn(7, 300)
	model := make(map[uint64]bool)
	b := &dnc.Bucket{WorkspaceID: "ws", ListID: "dnc", Index: 7}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		n := numbers[r.IntN(len(numbers))]
		if r.IntN(4) == 0 {
			removed, err := b.Remove(n, "")
			require.NoError(t, err)
			require.Equal(t, model[n], removed)
			delete(model, n)
		} else {
			added, err := b.Add([]uint64{n, n}, dnc.Origin{Source: domain.DNCAPI, At: day.Add(time.Duration(i) * time.Second)})
			require.NoError(t, err)
			want := 1
			if model[n] {
				want = 0
			}
			require.Equal(t, want, added)
			model[n] = true
		}
		if i%100 == 0 { // encoded and decoded as in the store
			text, err := json.Marshal(b)
			require.NoError(t, err)
			b = &dnc.Bucket{}
			require.NoError(t, json.Unmarshal(text, b))
		}
	}
	for _, n := range numbers {
		_, listed, err := b.Find(n)
		require.NoError(t, err)
		require.Equal(t, model[n], listed)
	}
	all, err := b.Numbers()
	require.NoError(t, err)
	assert.Len(t, all, len(model))
	assert.LessOrEqual(t, len(b.Groups), 300)
}

func TestOptOutIsKeptAlongsideImport(t *testing.T) {
	n := numbersIn(3, 2)
	b := &dnc.Bucket{Index: 3}
	added, err := b.Add(n, dnc.Origin{Source: domain.DNCImport, At: day})
	require.NoError(t, err)
	assert.Equal(t, 2, added)
	added, err = b.Add(n[:1], dnc.Origin{Source: domain.DNCOptOut, At: day, CallID: "call_1"})
	require.NoError(t, err)
	assert.Zero(t, added, "it was listed before")
	o, listed, err := b.Find(n[0])
	require.NoError(t, err)
	require.True(t, listed)
	assert.Equal(t, domain.DNCOptOut, o.Source)
	assert.Equal(t, "call_1", o.CallID)
	entries, err := b.Entries(0)
	require.NoError(t, err)
	require.Len(t, entries, 2, "each number once")
	removed, err := b.Remove(n[0], "")
	require.NoError(t, err)
	assert.True(t, removed)
	_, listed, err = b.Find(n[0])
	require.NoError(t, err)
	assert.False(t, listed, "of both")
}

func TestManySmallAdditionsKeepBucketCompact(t *testing.T) {
	numbers := numbersIn(1, 1500)
	b := &dnc.Bucket{Index: 1}
	for i, n := range numbers {
		_, err := b.Add([]uint64{n}, dnc.Origin{Source: domain.DNCAPI, At: day.Add(time.Duration(i) * time.Minute)})
		require.NoError(t, err)
	}
	assert.LessOrEqual(t, len(b.Groups), 257)
	all, err := b.Numbers()
	require.NoError(t, err)
	assert.Equal(t, numbers, all)
}

func TestFilterHasNoFalseNegativesAndFewFalsePositives(t *testing.T) {
	for _, size := range []int{0, 1, 7, 100, 2441} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			numbers := numbersIn(9, size+2000)
			f := dnc.NewFilter(1, numbers[:size])
			for _, n := range numbers[:size] {
				require.True(t, f.MayContain(n))
			}
			wrong := 0
			for _, n := range numbers[size:] {
				if f.MayContain(n) {
					wrong++
				}
			}
			assert.LessOrEqual(t, wrong, 2000/50, "one in fifty at most")
			assert.Equal(t, size, f.Count)
		})
	}
	assert.True(t, (&dnc.Filter{Unknown: true}).MayContain(1), "unknown filter may contain every number")
}

func TestCampaignScrub(t *testing.T) {
	c := &domain.Campaign{Meta: domain.Meta{WorkspaceID: "ws_01J00000000000000000000000", Environment: domain.Live}}
	c.Compliance.DNCListID = "dnc_01J00000000000000000000001"
	s := dnc.CampaignScrub(c)
	assert.Equal(t, []string{"dnc_01J00000000000000000000000"}, s.Lists(), "without scrubbing only the workspace's own")
	assert.True(t, s.Applies(dnc.Origin{Source: domain.DNCOptOut}), "opt-outs always apply")
	assert.False(t, s.Applies(dnc.Origin{Source: domain.DNCImport}))
	c.Compliance.DNCScrub = true
	s = dnc.CampaignScrub(c)
	assert.Equal(t, []string{"dnc_01J00000000000000000000000", "dnc_01J00000000000000000000001"}, s.Lists())
	assert.True(t, s.Applies(dnc.Origin{Source: domain.DNCImport}))
	assert.NotEqual(t, domain.DefaultDNCID(c.WorkspaceID, domain.Live), domain.DefaultDNCID(c.WorkspaceID, domain.Test))
}

// BenchmarkLookup measures the lookup of a number among ten million in memory.
func BenchmarkLookup(b *testing.B) {
	f := dnc.NewFilter(1, numbersIn(0, 2441))
	b.ReportAllocs()
	n := uint64(12025550100)
	for b.Loop() {
		n++
		_ = dnc.BucketOf(n)
		_ = f.MayContain(n)
	}
}
