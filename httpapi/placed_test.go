package httpapi

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/wire"
)

func TestACallNeedsNoDefaultsToBeSurelyGood(t *testing.T) {
	t.Parallel()
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	made := wire.NewShapes(registry).Of(registry.Schema(reflect.TypeFor[NewCallRequest](), true, ""))
	const plain = `{"to":"+12025550123","agent_id":"a","compliance":{"calling_hours":{"start":"00:00","end":"24:00"}}`
	assert.True(t, isDirect[struct{ Body NewCallRequest }, answer[*domain.Call]](operation{method: http.MethodPost}))
	for _, more := range []string{`}`, `,"record":false}`, `,"ring_timeout_seconds":30}`} {
		assert.True(t, made.Unfilled().Fits([]byte(plain+more)), more)
		assert.False(t, made.Fits([]byte(plain+more)), "of a route that leaves its defaults to the library")
	}
	for _, more := range []string{`,"record":0}`, `,"ring_timeout_seconds":4}`, `,"colour":1}`, `,"to":"+12025550124"}`} {
		assert.False(t, made.Unfilled().Fits([]byte(plain+more)), more)
	}
	assert.False(t, made.Unfilled().Fits([]byte(`{"agent_id":"a"}`)), "what must be there is missing")
}
