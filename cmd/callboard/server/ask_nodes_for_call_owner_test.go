package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	actornode "github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/cmd/callboard/server/location"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/lease"
)

// peerReplies are the replies of other nodes by their address. A node with an empty reply does not answer.
type peerReplies map[string]string

func (p peerReplies) RequestNode(_ context.Context, addr string, _ []byte) ([]byte, error) {
	if p[addr] == "" {
		return nil, errors.New("no answer")
	}
	return []byte(p[addr]), nil
}

// newClusterView returns the view of the node "here" in a cluster with four shards. owned holds the owner of each
// shard. running lists the shards that run on this node.
func newClusterView(owned map[int]string, running ...int) *clusterView {
	shards := newRunningShards(4, func() *Service { return nil })
	for _, number := range running {
		shards.byNumber[number] = &ownedShard{shard: &shard{number: number}}
	}
	return &clusterView{self: lease.Node{ID: "here"}, shards: 4, leases: fakeOwners{of: owned}, running: shards}
}

// workspaceInShard returns a workspace ID that belongs to the given shard of four.
func workspaceInShard(number int) string {
	for i := 0; ; i++ {
		if workspace := "ws_" + strconv.Itoa(i); domain.ShardOf(workspace, 4) == number {
			return workspace
		}
	}
}

func TestOwnerOfAWorkspaceRequiresARunningShardThatIsNotHandedOver(t *testing.T) {
	t.Parallel()
	v := newClusterView(map[int]string{0: "here", 1: "here", 2: "there"}, 0)
	for number, want := range map[int]bool{0: true, 1: false, 2: true, 3: false} {
		_, ok := v.OwnerOf(workspaceInShard(number))
		assert.Equal(t, want, ok, "shard %d", number)
	}
	v.running.shard(0).handingOver.Store(true)
	_, ok := v.OwnerOf(workspaceInShard(0))
	assert.False(t, ok, "handed over")
}

func TestLocalClaimIsPartialWhileAnOwnedShardDoesNotRun(t *testing.T) {
	t.Parallel()
	v := newClusterView(map[int]string{0: "here", 1: "here", 2: "there"}, 0)
	assert.True(t, v.LocalClaim(t.Context(), actornode.MatchQuery{}).Incomplete)
	v.running.endStart(&ownedShard{shard: &shard{number: 1}})
	assert.False(t, v.LocalClaim(t.Context(), actornode.MatchQuery{}).Incomplete)
}

func TestQueryNodesFailsIfANodeIsSilentOrAShardHasNoOwner(t *testing.T) {
	t.Parallel()
	whole := map[int]string{0: "here", 1: "a", 2: "b", 3: "a"}
	for name, c := range map[string]struct {
		owned   map[int]string
		answers peerReplies
		fails   bool
	}{
		"all answer":      {whole, peerReplies{"a": `{}`, "b": `{}`}, false},
		"one is silent":   {whole, peerReplies{"a": `{}`}, true},
		"one is partial":  {whole, peerReplies{"a": `{}`, "b": `{"part": true}`}, true},
		"no valid answer": {whole, peerReplies{"a": `{}`, "b": `?`}, true},
		"no owner":        {map[int]string{0: "here", 1: "a", 2: "b"}, peerReplies{"a": `{}`, "b": `{}`}, true},
	} {
		v := newClusterView(c.owned, 0)
		v.peers = c.answers
		claims, err := v.QueryNodes(t.Context(), actornode.MatchQuery{})
		assert.Equal(t, c.fails, err != nil, "%s: %v", name, err)
		assert.Len(t, claims, 2, name)
	}
}

func TestStoredClaimFailsWithoutAShardOrAReader(t *testing.T) {
	t.Parallel()
	_, err := newClusterView(nil).StoredClaim(t.Context(), "p1234")
	assert.ErrorIs(t, err, errNoShard)
}

func TestSuccessorIsAnotherNodeThatDoesNotDrain(t *testing.T) {
	t.Parallel()
	v := newClusterView(nil)
	for _, c := range []struct {
		nodes []lease.Node
		want  bool
	}{
		{[]lease.Node{{ID: "here"}}, false},
		{[]lease.Node{{ID: "here"}, {ID: "there", Draining: true}}, false},
		{[]lease.Node{{ID: "here"}, {ID: "there"}}, true},
	} {
		v.leases = fakeOwners{live: c.nodes}
		assert.Equal(t, c.want, v.hasSuccessor(), "%v", c.nodes)
	}
}

func TestClaimQueryHandlerAnswersOtherNodes(t *testing.T) {
	t.Parallel()
	v := newClusterView(map[int]string{0: "here"})
	for body, status := range map[string]int{`{}`: http.StatusOK, `?`: http.StatusBadRequest, `{"To": "` + strings.Repeat("1", maxClaimQuery) + `"}`: http.StatusBadRequest} {
		w := httptest.NewRecorder()
		v.handleClaimQuery(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
		require.Equal(t, status, w.Code, "%.20s", body)
		if status == http.StatusOK {
			var c location.Claim
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &c))
			assert.True(t, c.Incomplete, "shard 0 does not run yet")
		}
	}
}
