package webhook_test

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/actors/webhook/webhooktest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
)

// undialedErrors returns the error texts of requests that end before the client connects.
func undialedErrors() []string {
	return []string{"this address may not be reached from here", "the host name does not resolve", "the URL is not valid"}
}

func TestHostileHostsAreNotDialed(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, false)
	own := r.Listener.Addr().(*net.TCPAddr)
	dns := &fakeResolver{answers: map[string]string{}}
	c := webhook.NewClient(webhook.ClientConfig{Egress: access.Egress{Ports: []int{own.Port}}, Resolver: dns.resolver(), Timeout: time.Minute})
	defer c.Close()
	require.GreaterOrEqual(t, len(webhooktest.HostileHosts()), 130)
	for _, host := range webhooktest.HostileHosts() {
		url := fmt.Sprintf("https://%s:%d/ok", host, own.Port)
		assert.Equal(t, domain.CodeInvalidURL, domain.CodeOf(c.CheckURL(t.Context(), url)), "create and PATCH: %q", host)
		got := sendEvent(t, c, url)
		assert.Zero(t, got.Status, host)
		assert.Contains(t, undialedErrors(), got.Error, "%q", host)
	}
	for _, scheme := range []string{"http", "ftp", "file", "gopher", "unix", "ws", "HTTPS ", ""} {
		url := scheme + "://" + own.String() + "/ok"
		assert.Equal(t, domain.CodeInvalidURL, domain.CodeOf(c.CheckURL(t.Context(), url)), url)
		assert.Equal(t, "the URL is not valid", sendEvent(t, c, url).Error, url)
	}
	ours := loopback(t)
	ours.OwnListeners = []netip.AddrPort{netip.MustParseAddrPort(own.String())}
	assert.Equal(t, "this address may not be reached from here", sendEvent(t, r.client(t, ours), r.URL+"/ok").Error)
	r.mu.Lock()
	defer r.mu.Unlock()
	assert.Empty(t, r.requests)
}
