package lend_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/media/lend"
)

func TestSoundGoesWhereThereIsRoom(t *testing.T) {
	t.Parallel()
	load := func(live, free int) lend.Load { return lend.Load{Most: 100, Live: live, Free: free} }
	leaving := load(0, 100)
	leaving.Leaving = true
	for name, c := range map[string]struct {
		here   lend.Load
		others []lend.Load
		want   int
	}{
		"alone":                                {load(99, 1), nil, -1},
		"alone and full":                       {load(100, 0), nil, -1},
		"half empty":                           {load(49, 51), []lend.Load{load(0, 100)}, -1},
		"half full":                            {load(50, 50), []lend.Load{load(0, 100)}, 0},
		"the emptiest":                         {load(80, 20), []lend.Load{load(40, 60), load(10, 90), load(30, 70)}, 1},
		"hardly emptier":                       {load(60, 40), []lend.Load{load(55, 45)}, -1},
		"emptier, and without a pair of ports": {load(60, 40), []lend.Load{load(0, 0)}, -1},
		"who leaves":                           {load(60, 40), []lend.Load{leaving}, -1},
		"no pair here":                         {load(20, 0), []lend.Load{load(90, 10)}, 0},
		"no pair anywhere":                     {load(20, 0), []lend.Load{load(90, 0)}, -1},
		"more than it wants, here":             {load(200, 10), []lend.Load{load(150, 10)}, 0},
		"more than it wants, no pair here":     {load(100, 0), []lend.Load{load(300, 10), load(199, 10)}, 1},
		"who says no most":                     {load(60, 40), []lend.Load{{Free: 10}}, -1},
	} {
		assert.Equal(t, c.want, lend.Choose(c.here, c.others), name)
	}
}
