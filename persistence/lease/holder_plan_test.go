package lease

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMakePlan(t *testing.T) {
	const a, b, none = "a", "b", ""
	for name, c := range map[string]struct {
		view planInput
		want plan
	}{
		"its own that are free": {
			planInput{placement: []string{a, b, a}, owners: []string{none, none, a}},
			plan{claim: []int{0, 2}}, // the last one was claimed in a request without an answer
		},
		"another's is left to it, also where it is due to this one": {
			planInput{placement: []string{a, a}, owners: []string{b, b}}, plan{},
		},
		"what it has and is its own stays": {
			planInput{placement: []string{a, a}, owners: []string{a, a}, held: map[int]phase{0: running, 1: starting}}, plan{},
		},
		"what is another's now is lost": {
			planInput{placement: []string{a, a, a, a}, owners: []string{b, none, b, b}, held: map[int]phase{0: running, 1: running, 2: starting, 3: leaving}},
			plan{lost: []int{0, 1, 2}},
		},
		"a few at a time go to who has joined": {
			planInput{placement: []string{b, b, b, b}, owners: []string{a, a, a, a}, held: map[int]phase{0: running, 1: running, 2: leaving, 3: running}},
			plan{stop: []int{0}},
		},
		"none goes while a node that is gone may come back": {
			planInput{placement: []string{b, a}, owners: []string{a, none}, held: map[int]phase{0: running}, isSettling: true}, plan{claim: []int{1}},
		},
		"none goes while those before have not been taken": {
			planInput{placement: []string{b, b, a}, owners: []string{a, none, a}, held: map[int]phase{0: running, 2: running}, handedOver: 2}, plan{},
		},
		"what is busy stays, and leaves its place to what is not": {
			planInput{placement: []string{b, b, b}, owners: []string{a, a, a}, held: map[int]phase{0: running, 1: running, 2: running}, keepShard: func(shard int, to string) bool { return shard == 0 && to == b }},
			plan{stop: []int{1, 2}, keeps: true},
		},
		"who drains gives what is busy": {
			planInput{placement: []string{b}, owners: []string{a}, held: map[int]phase{0: running}, keepShard: func(int, string) bool { return true }, draining: true},
			plan{stop: []int{0}},
		},
		"what is being started goes once it is": {
			planInput{placement: []string{b}, owners: []string{a}, held: map[int]phase{0: starting}}, plan{},
		},
		"where nobody could take them they stay": {
			planInput{placement: []string{none}, owners: []string{a}, held: map[int]phase{0: running}}, plan{},
		},
		"who drains gives all and claims nothing": {
			planInput{placement: []string{b, b, none, b, b}, owners: []string{a, a, a, none, a}, held: map[int]phase{0: running, 1: running, 2: running}, handedOver: 9, draining: true},
			plan{stop: []int{0, 1, 2}, release: []int{4}},
		},
		"what nobody heard of having and is another's is freed": {
			planInput{placement: []string{b}, owners: []string{a}}, plan{release: []int{0}},
		},
	} {
		c.view.self, c.view.maxHandovers = a, 2
		assert.Equal(t, c.want, makePlan(c.view), name)
	}
}

func TestIsIsolated(t *testing.T) {
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
		sight PeerView
		want  bool
	}{
		"somebody answers":                             {PeerView{Self: "c", Nodes: three, AnyAnswered: true, MissedRounds: 99}, false},
		"one round may be chance":                      {PeerView{Self: "c", Nodes: three, MissedRounds: 2}, false},
		"the highest goes first":                       {PeerView{Self: "c", Nodes: three, MissedRounds: 3}, true},
		"the next looks whether that was it":           {PeerView{Self: "b", Nodes: three, MissedRounds: 3}, false},
		"it was not":                                   {PeerView{Self: "b", Nodes: others("c"), MissedRounds: 4}, true},
		"the lowest one waits longest":                 {PeerView{Self: "a", Nodes: three, MissedRounds: 5}, false},
		"also where others have gone":                  {PeerView{Self: "a", Nodes: others("c"), MissedRounds: 5}, false},
		"and goes where the others go on":              {PeerView{Self: "a", Nodes: three, MissedRounds: 6}, true},
		"nobody else goes on: it stays":                {PeerView{Self: "a", Nodes: others("b", "c"), MissedRounds: 99}, false},
		"it has drained and the others go on":          {PeerView{Self: "c", Nodes: others("c"), MissedRounds: 99}, true},
		"it has drained and the others went":           {PeerView{Self: "c", Nodes: others("a", "b", "c"), MissedRounds: 99}, false},
		"of two the higher goes":                       {PeerView{Self: "b", Nodes: three[:2], MissedRounds: 3}, true},
		"of two the lower stays once the higher went":  {PeerView{Self: "a", Nodes: others("b")[:2], MissedRounds: 99}, false},
		"alone there is nobody to be cut off from":     {PeerView{Self: "a", Nodes: three[:1], MissedRounds: 99}, false},
		"among many it does not take a round for each": {PeerView{Self: "b", Nodes: six, MissedRounds: 5}, true},
		"who has died is not seen for as long":         {PeerView{Self: "c", Nodes: three, MissedRounds: 11, MinMissedRounds: 12}, false},
		"and who has not is seen still":                {PeerView{Self: "c", Nodes: three, MissedRounds: 12, MinMissedRounds: 12}, true},
		"by the lowest after three more":               {PeerView{Self: "a", Nodes: three, MissedRounds: 14, MinMissedRounds: 12}, false},
		"but the lowest of many is the last":           {PeerView{Self: "a", Nodes: six, MissedRounds: 5}, false},
	} {
		assert.Equal(t, c.want, IsIsolated(c.sight), name)
	}
}

func TestRotatePeersStartsAtAnotherNode(t *testing.T) {
	list := []Node{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}}
	a, c, d := list[0], list[2], list[3]
	assert.Equal(t, []Node{a, c, d}, rotatePeers("b", list, 0))
	assert.Equal(t, []Node{c, d, a}, rotatePeers("b", list, 1))
	assert.Equal(t, []Node{d, a, c}, rotatePeers("b", list, 2))
	assert.Equal(t, []Node{a, c, d}, rotatePeers("b", list, 3))
	assert.Empty(t, rotatePeers("a", list[:1], 7))
}
