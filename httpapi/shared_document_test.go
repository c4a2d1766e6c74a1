package httpapi_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
)

func TestDoorsOfOneProcessShareNothingOfAWorkspaceAndShowTheirOwnAddress(t *testing.T) {
	t.Parallel()
	var doors [2]*testServer
	for i, url := range []string{"https://one.example", "https://two.example"} {
		doors[i] = startServer(t, httpapi.Config{PublicURL: url, Version: url})
	}
	id := doors[0].make("/v1/campaigns", m{"name": "c", "agent_id": "agent_" + ulidOf(1)})
	doors[0].must(200, "GET", "/v1/campaigns/"+id, "all", nil) // the short way
	doors[1].must(404, "GET", "/v1/campaigns/"+id, "all", nil)
	doors[0].must(200, "POST", "/v1/campaigns/"+id+"/start", "all", nil) // the library's way
	doors[1].must(404, "POST", "/v1/campaigns/"+id+"/start", "all", nil)
	lists := [2]int{}
	for i := range doors {
		page, _ := doors[i].must(200, "GET", "/v1/campaigns", "all", nil).json(t)["data"].([]any)
		lists[i] = len(page)
	}
	assert.Equal(t, 1, lists[0]-lists[1], "of the first door alone")
	for i, url := range []string{"https://one.example", "https://two.example"} {
		var shown struct {
			Info    struct{ Version string }
			Servers []struct{ URL string }
		}
		require.NoError(t, json.Unmarshal(doors[i].must(200, "GET", "/openapi.json", "", nil).Body, &shown))
		assert.Equal(t, url, shown.Info.Version)
		assert.Equal(t, []struct{ URL string }{{url}}, shown.Servers)
		assert.Contains(t, string(doors[i].must(200, "GET", "/docs", "", nil).Body), url)
	}
}

func TestAnotherDoorOfAProcessMakesNoSchemasOfItsOwn(t *testing.T) {
	services := newFakeServices().services()
	httpapi.Prepare()
	made := testing.AllocsPerRun(3, func() { httpapi.New(httpapi.Config{}, services) })
	assert.Less(t, made, 20000.0, "all schemas of the API take some hundred thousand")
}
