package httpapi_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/apitest"
)

// walkSeed is that of a walk: the same each time, so that a fault is found
// again, unless API_SEED says another one.
func walkSeed(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(1)
	if v := os.Getenv("API_SEED"); v != "" {
		var err error
		seed, err = strconv.ParseUint(v, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("API_SEED=%d", seed)
	return seed
}

// sameByTheLongWay sends a request once more as one whose answer has to be
// negotiated, which no short way does.
func (d *door) sameByTheLongWay(r apitest.Request, short apitest.Reply, from string) error {
	r.Header = maps.Clone(r.Header)
	if r.Header == nil {
		r.Header = make(map[string]string)
	}
	if r.Header["Accept"] != "" || r.Header["Idempotency-Key"] != "" {
		return nil
	}
	r.Header["Accept"] = "text/plain;q=0.1, application/json"
	long, err := d.send(r, from)
	if err != nil {
		return err
	}
	assert.Equal(d.t, long.Status, short.Status, "%s %s\n%s\n%s\n%s", r.Method, r.Path, r.Body, long.Body, short.Body)
	assert.Equal(d.t, faultOf(long), faultOf(short), "%s %s %s", r.Method, r.Path, r.Body)
	return nil
}

// faultOf is what an answer says is wrong, but for the request's id.
func faultOf(r apitest.Reply) map[string]any {
	var out struct {
		Error map[string]any `json:"error"`
	}
	_ = json.Unmarshal(r.Body, &out) // what is no JSON has none
	delete(out.Error, "request_id")
	return out.Error
}

func TestNoRequestToAnyRouteBreaksTheContract(t *testing.T) {
	d := open(t, httpapi.Config{TrustedProxies: loopback()})
	n := 0
	w := apitest.Walk{
		Contract: d.contract(), Seed: walkSeed(t), Rounds: 12,
		Send: func(r apitest.Request) (apitest.Reply, error) {
			n++
			if scarce(r.Path) {
				d.unlimited() // or most of these would be refused, after a second's wait
			}
			from := addressNo(n % 250) // or strangers' requests would soon be too many
			got, err := d.send(r, from)
			if err == nil && r.Method == http.MethodPost && len(r.Body) > 0 && !strings.Contains(r.Path, "_") {
				err = d.sameByTheLongWay(r, got, from)
			}
			return got, err
		},
	}
	tally, err := w.Run()
	require.NoError(t, err)
	for _, f := range tally.Fault[:min(len(tally.Fault), 20)] {
		t.Error(f)
	}
	t.Logf("%d requests; never taken: %v", tally.Sent, tally.Never)
	assert.Empty(t, tally.Fault)
	assert.Greater(t, tally.Sent, 2000)
	assert.Less(t, len(tally.Never), len(d.contract().Operations)/2)
}
