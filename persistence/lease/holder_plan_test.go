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
		"free shards of this node are claimed": {
			planInput{placement: []string{a, b, a}, owners: []string{none, none, a}},
			plan{claim: []int{0, 2}}, // the last one was claimed in a request without an answer
		},
		"shards owned by another node are not claimed": {
			planInput{placement: []string{a, a}, owners: []string{b, b}}, plan{},
		},
		"held shards of this node stay": {
			planInput{placement: []string{a, a}, owners: []string{a, a}, held: map[int]phase{0: running, 1: starting}}, plan{},
		},
		"held shards owned by another node are lost": {
			planInput{placement: []string{a, a, a, a}, owners: []string{b, none, b, b}, held: map[int]phase{0: running, 1: running, 2: starting, 3: leaving}},
			plan{lost: []int{0, 1, 2}},
		},
		"joined node gets a few shards at a time": {
			planInput{placement: []string{b, b, b, b}, owners: []string{a, a, a, a}, held: map[int]phase{0: running, 1: running, 2: leaving, 3: running}},
			plan{stop: []int{0}},
		},
		"no hand-over while settling": {
			planInput{placement: []string{b, a}, owners: []string{a, none}, held: map[int]phase{0: running}, isSettling: true}, plan{claim: []int{1}},
		},
		"no hand-over while previous ones are pending": {
			planInput{placement: []string{b, b, a}, owners: []string{a, none, a}, held: map[int]phase{0: running, 2: running}, handedOver: 2}, plan{},
		},
		"kept shard does not count as hand-over": {
			planInput{placement: []string{b, b, b}, owners: []string{a, a, a}, held: map[int]phase{0: running, 1: running, 2: running}, keepShard: func(shard int, to string) bool { return shard == 0 && to == b }},
			plan{stop: []int{1, 2}, keeps: true},
		},
		"draining node releases kept shards": {
			planInput{placement: []string{b}, owners: []string{a}, held: map[int]phase{0: running}, keepShard: func(int, string) bool { return true }, draining: true},
			plan{stop: []int{0}},
		},
		"starting shard is handed over later": {
			planInput{placement: []string{b}, owners: []string{a}, held: map[int]phase{0: starting}}, plan{},
		},
		"shards without an assigned node stay": {
			planInput{placement: []string{none}, owners: []string{a}, held: map[int]phase{0: running}}, plan{},
		},
		"draining node releases all and claims none": {
			planInput{placement: []string{b, b, none, b, b}, owners: []string{a, a, a, none, a}, held: map[int]phase{0: running, 1: running, 2: running}, handedOver: 9, draining: true},
			plan{stop: []int{0, 1, 2}, release: []int{4}},
		},
		"unknown claim of a foreign shard is released": {
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
		"another node answers":                         {PeerView{Self: "c", Nodes: three, AnyAnswered: true, MissedRounds: 99}, false},
		"two missed rounds":                            {PeerView{Self: "c", Nodes: three, MissedRounds: 2}, false},
		"highest ID after three rounds":                {PeerView{Self: "c", Nodes: three, MissedRounds: 3}, true},
		"second ID waits one more round":               {PeerView{Self: "b", Nodes: three, MissedRounds: 3}, false},
		"second ID after four rounds":                  {PeerView{Self: "b", Nodes: others("c"), MissedRounds: 4}, true},
		"lowest ID waits longest":                      {PeerView{Self: "a", Nodes: three, MissedRounds: 5}, false},
		"lowest ID waits although another drains":      {PeerView{Self: "a", Nodes: others("c"), MissedRounds: 5}, false},
		"lowest ID after six rounds":                   {PeerView{Self: "a", Nodes: three, MissedRounds: 6}, true},
		"last node that does not drain":                {PeerView{Self: "a", Nodes: others("b", "c"), MissedRounds: 99}, false},
		"draining node stays isolated":                 {PeerView{Self: "c", Nodes: others("c"), MissedRounds: 99}, true},
		"all nodes drain":                              {PeerView{Self: "c", Nodes: others("a", "b", "c"), MissedRounds: 99}, false},
		"higher ID of two nodes":                       {PeerView{Self: "b", Nodes: three[:2], MissedRounds: 3}, true},
		"lower ID of two nodes while the other drains": {PeerView{Self: "a", Nodes: others("b")[:2], MissedRounds: 99}, false},
		"single node":                                  {PeerView{Self: "a", Nodes: three[:1], MissedRounds: 99}, false},
		"extra rounds are bounded":                     {PeerView{Self: "b", Nodes: six, MissedRounds: 5}, true},
		"below the minimum of rounds":                  {PeerView{Self: "c", Nodes: three, MissedRounds: 11, MinMissedRounds: 12}, false},
		"at the minimum of rounds":                     {PeerView{Self: "c", Nodes: three, MissedRounds: 12, MinMissedRounds: 12}, true},
		"lowest ID after the minimum and three rounds": {PeerView{Self: "a", Nodes: three, MissedRounds: 14, MinMissedRounds: 12}, false},
		"lowest ID of many nodes":                      {PeerView{Self: "a", Nodes: six, MissedRounds: 5}, false},
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
