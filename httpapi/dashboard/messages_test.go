package dashboard

import (
	"encoding/json"
	"io"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMessageThreadMergesBothDirectionsInOrder(t *testing.T) {
	t.Parallel()
	said := func(at, body, direction string) object {
		return object{"created_at": "2030-04-01T09:00:" + at + "Z", "body": body, "direction": direction, "from": "+1", "to": "+2", "status": "sent"}
	}
	sides := map[string]resourceList{
		"from": {Data: []object{said("05.5", "third", "inbound"), said("01", "first", "inbound")}},
		"to":   {Data: []object{said("06", "fourth <b>", "outbound"), said("05", "second", "outbound")}},
	}
	ask := func() string {
		r := &Request{Query: url.Values{"with": {"+1 5"}}, API: func(_, path, _, _ string, _ io.Reader) (int, []byte) {
			at, err := url.Parse(path)
			require.NoError(t, err)
			for side, l := range sides {
				if at.Query().Get(side) == "+1 5" {
					text, err := json.Marshal(map[string]any{"data": l.Data, "has_more": l.More})
					require.NoError(t, err)
					return 200, text
				}
			}
			return 404, nil
		}}
		return string(New().Serve(Route{serve: messagesPage}, r).Body)
	}
	assert.Regexp(t, `(?s)first.*second.*third.*fourth &lt;b&gt;`, ask())
	to := sides["to"]
	to.More = true
	sides["to"] = to
	page := ask()
	assert.NotContains(t, page, "first", "messages between the two pages may be missing")
	assert.Regexp(t, `(?s)list of all messages.*second.*third.*fourth`, page)
}
