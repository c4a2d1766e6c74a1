package pebble

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
)

// The cached values of recentWrites, and the keys that it considers absent, must always match the store, even with a
// very small cache.
func TestRecentWritesMatchStore(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			fs := vfs.NewMem()
			d := openWithRecentKeys(t, fs, 1+rnd.IntN(12))
			versions := map[persistence.Key]uint64{}
			counts := map[string]uint64{}
			begins := []string{"", "a_", "b_"}
			if seed%2 == 1 { // ids with an owner
				begins = []string{"o_1/", "o_1/e_", "o_2/e_"}
			}
			for step := range 600 {
				switch rnd.IntN(60) {
				case 0: // restart with an empty cache
					require.NoError(t, d.Close())
					d = openWithRecentKeys(t, fs, 1+rnd.IntN(12))
				case 1:
					_, err := d.Commit(t.Context(), persistence.Commit{DeleteLog: "log"})
					require.NoError(t, err)
					clear(counts)
				case 2:
					require.NoError(t, d.Claim(t.Context(), "shard", strconv.Itoa(step)))
				}
				// About a third of the ids is greater than all previous ones. The others are recent or random.
				id := fmt.Sprintf("%05d", step)
				switch rnd.IntN(3) {
				case 0:
					id = fmt.Sprintf("%05d", max(0, step-rnd.IntN(40)))
				case 1:
					id = fmt.Sprintf("%05d", rnd.IntN(1200))
				}
				id = begins[rnd.IntN(3)] + id
				k := persistence.Key{Table: []string{"a", "ab", "b/1"}[rnd.IntN(3)], ID: id}
				c := persistence.Commit{Log: "log", Puts: []persistence.Put{{Key: k, Value: []byte(id), Sort: id, Lists: []string{"l"}}}}
				c.Events = []persistence.Event{{Subject: id, Payload: []byte("x")}}
				have := versions[k]
				wrong := rnd.IntN(4) == 0
				c.Guards = []persistence.Guard{{Key: k, Version: have}}
				if wrong {
					c.Guards[0].Version++
				}
				if gone := rnd.IntN(5) == 0; gone {
					c.Puts[0] = persistence.Put{Key: k}
				}
				res, err := d.Commit(t.Context(), c)
				if wrong {
					require.ErrorIs(t, err, domain.ErrConflict, "step %d", step)
					continue
				}
				require.NoError(t, err, "step %d: %v holds version %d", step, k, have)
				if c.Puts[0].Value == nil {
					delete(versions, k)
				} else {
					require.Equal(t, have+1, res.Versions[0], "step %d", step)
					versions[k]++
				}
				counts[id]++
				require.Equal(t, counts[id], res.Sequences[0], "step %d", step)
			}
			require.NoError(t, d.Close())
		})
	}
}

func openWithRecentKeys(t *testing.T, fs vfs.FS, most int) *Driver {
	t.Helper()
	d, err := Open("store", Options{FS: fs, MinFree: 1})
	require.NoError(t, err)
	d.recent.maxKeys = most
	return d
}
