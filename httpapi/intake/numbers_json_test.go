package intake_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/intake"
)

func TestJSONNumbersRefuseUnknownFields(t *testing.T) {
	rows, err := intake.JSONNumbers([]byte(`{"entries":["+12025550123",{"phone":"2025550124","country":"US"},{"phone":"1","name":"Ada"},{"phone":7},{}]}`))
	require.NoError(t, err)
	var got []domain.RawNumber
	for n, err := range rows {
		require.NoError(t, err)
		got = append(got, n)
	}
	assert.Equal(t, []domain.RawNumber{
		{Line: 1, Phone: "+12025550123"},
		{Line: 2, Phone: "2025550124", Country: "US"},
		{Line: 3, Problem: "the entry is not a number: name is not a known member"},
		{Line: 4, Problem: "the entry is not a number: phone must be a string"},
		{Line: 5, Problem: "the entry has no phone"},
	}, got)
	_, err = intake.JSONNumbers([]byte(`{"entries":[],"list":"x"}`))
	var e *domain.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "list", e.Param)
}
