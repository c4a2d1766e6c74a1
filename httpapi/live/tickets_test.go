package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTicketOpensItsPathOnce(t *testing.T) {
	var store ticketStore
	one := ticket{path: "/v1/events/stream", credential: "key", until: time.Now().Add(ticketLifetime)}
	code, ok := store.issue("ws_1", one)
	assert.True(t, ok)
	got, valid := store.redeem(code, one.path)
	assert.True(t, valid)
	assert.Equal(t, one, got)
	_, valid = store.redeem(code, one.path)
	assert.False(t, valid, "the ticket was used before")
}

func TestTicketOpensNoOtherPath(t *testing.T) {
	var store ticketStore
	code, _ := store.issue("ws_1", ticket{path: "/v1/events/stream", until: time.Now().Add(ticketLifetime)})
	_, valid := store.redeem(code, "/v1/calls/call_1/listen")
	assert.False(t, valid)
}

func TestTicketExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var store ticketStore
		code, _ := store.issue("ws_1", ticket{path: "/p", until: time.Now().Add(ticketLifetime)})
		time.Sleep(ticketLifetime + time.Second)
		_, valid := store.redeem(code, "/p")
		assert.False(t, valid)
	})
}

func TestTicketsOfAWorkspaceAreBoundedUntilTheyExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var store ticketStore
		issue := func(workspace string) bool {
			_, ok := store.issue(workspace, ticket{path: "/p", until: time.Now().Add(ticketLifetime)})
			return ok
		}
		for range maxTickets {
			assert.True(t, issue("ws_1"))
		}
		assert.False(t, issue("ws_1"), "the workspace has the maximum number of tickets")
		assert.True(t, issue("ws_2"), "another workspace has its own maximum")
		time.Sleep(ticketLifetime + time.Second)
		assert.True(t, issue("ws_1"))
		assert.Len(t, store.unused, 1, "the expired ones of all workspaces are removed")
	})
}

func TestCutTicketSplitsTheQuery(t *testing.T) {
	for _, c := range []struct {
		url, path, code string
		found           bool
	}{
		{"/v1/events/stream?ticket=a.b", "/v1/events/stream", "a.b", true},
		{"/v1/calls/c/listen?mode=barge&ticket=a%2Eb", "/v1/calls/c/listen?mode=barge", "a.b", true},
		{"/v1/events/stream", "/v1/events/stream", "", false},
		{"/v1/events/stream?ticket=%zz", "/v1/events/stream", "", false},
	} {
		path, code, found := cutTicket(c.url)
		assert.Equal(t, c.found, found, c.url)
		assert.Equal(t, []string{c.path, c.code}, []string{path, code}, c.url)
	}
}
