package httpapi_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
)

func TestServersOfOneProcessShareNoDataAndUseOwnPublicURL(t *testing.T) {
	t.Parallel()
	var servers [2]*testServer
	for i, url := range []string{"https://one.example", "https://two.example"} {
		servers[i] = startServer(t, httpapi.Config{PublicURL: url, Version: url})
	}
	id := servers[0].create("/v1/campaigns", m{"name": "c", "agent_id": "agent_" + ulidOf(1)})
	servers[0].must(200, "GET", "/v1/campaigns/"+id, "all", nil) // a route without a request body
	servers[1].must(404, "GET", "/v1/campaigns/"+id, "all", nil)
	servers[0].must(200, "POST", "/v1/campaigns/"+id+"/start", "all", nil) // a route that huma decodes
	servers[1].must(404, "POST", "/v1/campaigns/"+id+"/start", "all", nil)
	lists := [2]int{}
	for i := range servers {
		page, _ := servers[i].must(200, "GET", "/v1/campaigns", "all", nil).json(t)["data"].([]any)
		lists[i] = len(page)
	}
	assert.Equal(t, 1, lists[0]-lists[1], "only the first server has the campaign")
	for i, url := range []string{"https://one.example", "https://two.example"} {
		var shown struct {
			Info    struct{ Version string }
			Servers []struct{ URL string }
		}
		require.NoError(t, json.Unmarshal(servers[i].must(200, "GET", "/openapi.json", "", nil).Body, &shown))
		assert.Equal(t, url, shown.Info.Version)
		assert.Equal(t, []struct{ URL string }{{url}}, shown.Servers)
		assert.Contains(t, string(servers[i].must(200, "GET", "/docs", "", nil).Body), url)
	}
}

func TestSecondServerReusesSchemas(t *testing.T) {
	services := newFakeServices().services()
	httpapi.Prepare()
	allocs := testing.AllocsPerRun(3, func() { httpapi.New(httpapi.Config{}, services) })
	assert.Less(t, allocs, 20000.0, "decoding all schemas of the API makes several hundred thousand allocations")
}
