package forward

import (
	"context"
	"net"
	"net/http"
	"time"
)

// ErrStranger says that whoever connects, or is connected to, is no node of this install.
var ErrStranger = errStranger

// Ask asks a node's door whether it answers and what time it is there, to the
// second. ErrStranger: somebody else answers, or a node with another master key.
func (c *Credential) Ask(ctx context.Context, addr string) (time.Time, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, "https://"+addr+"/healthz", http.NoBody)
	if err != nil {
		return time.Time{}, err
	}
	to := &http.Transport{
		DialContext:     (&net.Dialer{Timeout: dialLimit}).DialContext,
		TLSClientConfig: c.config(), TLSHandshakeTimeout: 2 * dialLimit, DisableKeepAlives: true,
	}
	resp, err := to.RoundTrip(r)
	if err != nil {
		return time.Time{}, err
	}
	_ = resp.Body.Close()
	return http.ParseTime(resp.Header.Get("Date"))
}
