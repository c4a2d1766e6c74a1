package httpapi_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/apitest"
)

// walkSeed returns the seed of a walk: API_SEED if set, otherwise a fixed seed, so that faults are reproducible.
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

// anyTime matches the time fields in a response. It skips fields whose name begins with l, such as local times.
var anyTime = regexp.MustCompile(`"[a-km-z_]\w*":"\d{4}-\d\d-\d\dT[^"]*"`)

func TestContractWalkOverAllRoutes(t *testing.T) {
	d := startServer(t, httpapi.Config{TrustedProxies: loopback()})
	n, times := 0, 0
	w := apitest.Walk{
		Contract: d.contract(), Seed: walkSeed(t), Rounds: 12,
		Send: func(r apitest.Request) (apitest.Reply, error) {
			n++
			if hasSmallLimit(r.Path) {
				d.resetLimits() // otherwise the rate limit would refuse or delay most requests
			}
			from := addressNo(n % 250) // otherwise invalid credentials would reach their rate limit
			got, err := d.send(r, from)
			if err == nil && got.Status < 300 && strings.HasPrefix(r.Path, "/v1/") && strings.HasPrefix(got.Header.Get("Content-Type"), "application/json") {
				for _, at := range anyTime.FindAllString(string(got.Body), -1) {
					times++
					assert.Regexp(t, `:"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"$`, at, "%s %s", r.Method, r.Path)
				}
			}
			return got, err
		},
	}
	tally, err := w.Run()
	require.NoError(t, err)
	for _, f := range tally.Faults[:min(len(tally.Faults), 20)] {
		t.Error(f)
	}
	t.Logf("%d requests; never taken: %v", tally.Sent, tally.Unaccepted)
	assert.Empty(t, tally.Faults)
	assert.Greater(t, tally.Sent, 1000)
	assert.Greater(t, times, 100)
	assert.Less(t, len(tally.Unaccepted), len(d.contract().Operations)/2)
}
