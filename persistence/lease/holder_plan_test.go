package lease

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhatAHolderDoesNext(t *testing.T) {
	const a, b, none = "a", "b", ""
	for name, c := range map[string]struct {
		view view
		want plan
	}{
		"its own that are free": {
			view{places: []string{a, b, a}, owners: []string{none, none, a}},
			plan{claim: []int{0, 2}}, // the last was claimed without the answer being heard
		},
		"another's is left to it, also where it is due to this one": {
			view{places: []string{a, a}, owners: []string{b, b}}, plan{},
		},
		"what it has and is its own stays": {
			view{places: []string{a, a}, owners: []string{a, a}, held: map[int]phase{0: running, 1: starting}}, plan{},
		},
		"what is another's now is lost": {
			view{places: []string{a, a, a, a}, owners: []string{b, none, b, b}, held: map[int]phase{0: running, 1: running, 2: starting, 3: leaving}},
			plan{lost: []int{0, 1, 2}},
		},
		"a few at a time go to who has joined": {
			view{places: []string{b, b, b, b}, owners: []string{a, a, a, a}, held: map[int]phase{0: running, 1: running, 2: leaving, 3: running}},
			plan{stop: []int{0}},
		},
		"none goes while a node that is gone may come back": {
			view{places: []string{b, a}, owners: []string{a, none}, held: map[int]phase{0: running}, settling: true}, plan{claim: []int{1}},
		},
		"none goes while those before have not been taken": {
			view{places: []string{b, b, a}, owners: []string{a, none, a}, held: map[int]phase{0: running, 2: running}, given: 2}, plan{},
		},
		"what is busy stays, and leaves its place to what is not": {
			view{places: []string{b, b, b}, owners: []string{a, a, a}, held: map[int]phase{0: running, 1: running, 2: running}, stays: func(shard int, to string) bool { return shard == 0 && to == b }},
			plan{stop: []int{1, 2}, stay: true},
		},
		"who drains gives what is busy": {
			view{places: []string{b}, owners: []string{a}, held: map[int]phase{0: running}, stays: func(int, string) bool { return true }, draining: true},
			plan{stop: []int{0}},
		},
		"what is being started goes once it is": {
			view{places: []string{b}, owners: []string{a}, held: map[int]phase{0: starting}}, plan{},
		},
		"where nobody could take them they stay": {
			view{places: []string{none}, owners: []string{a}, held: map[int]phase{0: running}}, plan{},
		},
		"who drains gives all and claims nothing": {
			view{places: []string{b, b, none, b, b}, owners: []string{a, a, a, none, a}, held: map[int]phase{0: running, 1: running, 2: running}, given: 9, draining: true},
			plan{stop: []int{0, 1, 2}, drop: []int{4}},
		},
		"what nobody heard of having and is another's is freed": {
			view{places: []string{b}, owners: []string{a}}, plan{drop: []int{0}},
		},
	} {
		c.view.self, c.view.handover = a, 2
		assert.Equal(t, c.want, decide(c.view), name)
	}
}

func TestWhoIsCutOffDrains(t *testing.T) {
	three := []Node{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	six := append(append([]Node(nil), three...), Node{ID: "d"}, Node{ID: "e"}, Node{ID: "f"})
	others := func(draining ...string) []Node {
		list := append([]Node(nil), three...)
		for i := range list {
			for _, id := range draining {
				list[i].Draining = list[i].Draining || list[i].ID == id
			}
		}
		return list
	}
	for name, c := range map[string]struct {
		sight Sight
		want  bool
	}{
		"somebody answers":                             {Sight{Self: "c", Nodes: three, Reached: true, Missed: 99}, false},
		"one round may be chance":                      {Sight{Self: "c", Nodes: three, Missed: 2}, false},
		"the highest goes first":                       {Sight{Self: "c", Nodes: three, Missed: 3}, true},
		"the next looks whether that was it":           {Sight{Self: "b", Nodes: three, Missed: 3}, false},
		"it was not":                                   {Sight{Self: "b", Nodes: others("c"), Missed: 4}, true},
		"the lowest one waits longest":                 {Sight{Self: "a", Nodes: three, Missed: 5}, false},
		"also where others have gone":                  {Sight{Self: "a", Nodes: others("c"), Missed: 5}, false},
		"and goes where the others go on":              {Sight{Self: "a", Nodes: three, Missed: 6}, true},
		"nobody else goes on: it stays":                {Sight{Self: "a", Nodes: others("b", "c"), Missed: 99}, false},
		"it has drained and the others go on":          {Sight{Self: "c", Nodes: others("c"), Missed: 99}, true},
		"it has drained and the others went":           {Sight{Self: "c", Nodes: others("a", "b", "c"), Missed: 99}, false},
		"of two the higher goes":                       {Sight{Self: "b", Nodes: three[:2], Missed: 3}, true},
		"of two the lower stays once the higher went":  {Sight{Self: "a", Nodes: others("b")[:2], Missed: 99}, false},
		"alone there is nobody to be cut off from":     {Sight{Self: "a", Nodes: three[:1], Missed: 99}, false},
		"among many it does not take a round for each": {Sight{Self: "b", Nodes: six, Missed: 5}, true},
		"who has died is not seen for as long":         {Sight{Self: "c", Nodes: three, Missed: 11, Least: 12}, false},
		"and who has not is seen still":                {Sight{Self: "c", Nodes: three, Missed: 12, Least: 12}, true},
		"by the lowest after three more":               {Sight{Self: "a", Nodes: three, Missed: 14, Least: 12}, false},
		"but the lowest of many is the last":           {Sight{Self: "a", Nodes: six, Missed: 5}, false},
	} {
		assert.Equal(t, c.want, Isolated(c.sight), name)
	}
}

func TestEachRoundAsksOthersFirst(t *testing.T) {
	list := []Node{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}}
	a, c, d := list[0], list[2], list[3]
	assert.Equal(t, []Node{a, c, d}, peers("b", list, 0))
	assert.Equal(t, []Node{c, d, a}, peers("b", list, 1))
	assert.Equal(t, []Node{d, a, c}, peers("b", list, 2))
	assert.Equal(t, []Node{a, c, d}, peers("b", list, 3))
	assert.Empty(t, peers("a", list[:1], 7))
}
