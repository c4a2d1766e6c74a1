package engines_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/engines"
)

func TestRefusalSeparatesInvalidRequestsFromEngineFailures(t *testing.T) {
	t.Parallel()
	for status, unfit := range map[int]bool{400: true, 404: true, 413: true, 422: true, 401: false, 403: false, 429: false, 500: false, 503: false} {
		err := engines.Refusal(&http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(`{"detail":{"status":"voice_not_found"}}`))})
		require.ErrorIs(t, err, engines.ErrRequestRefused)
		assert.Equal(t, unfit, errors.Is(err, engines.ErrRequestInvalid), status)
		assert.Contains(t, err.Error(), "voice_not_found")
	}
}
