package routing_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/routing"
)

func TestRedirectIsFollowedToAllowedHostsForSameNumberOnly(t *testing.T) {
	t.Parallel()
	trunk := &domain.Trunk{RedirectHosts: []string{"Signer.example.com", "192.0.2.0/24", "[2001:db8::1]", "198.51.100.7"}}
	for _, c := range []struct {
		dialled string
		places  []routing.RedirectTarget
		index   int
		ok      bool
	}{
		{"+12025550123", []routing.RedirectTarget{{"+12025550123", "signer.EXAMPLE.com"}}, 0, true},
		{"+12025550123", []routing.RedirectTarget{{"12025550123", "signer.example.com."}}, 0, true},
		{"+12025550123", []routing.RedirectTarget{{"+12025550124", "192.0.2.9"}, {"+12025550123", "192.0.2.9"}}, 1, true},
		{"12025550123", []routing.RedirectTarget{{"12025550123", "[2001:db8::1]"}}, 0, true},
		{"+12025550123", []routing.RedirectTarget{{"+12025550123", "198.51.100.7"}}, 0, true},
		{"+12025550123", []routing.RedirectTarget{{"+12025550123", "::ffff:198.51.100.7"}}, 0, true},
		{"+12025550123", []routing.RedirectTarget{{"+12025550123", "198.51.100.8"}}, 0, false},
		{"+12025550123", []routing.RedirectTarget{{"+12025550123", "evil.signer.example.com"}}, 0, false},
		{"+12025550123", []routing.RedirectTarget{{"+12025550123", "2001:db8::2"}}, 0, false},
		{"+12025550123", []routing.RedirectTarget{{"+12025550199", "192.0.2.9"}}, 0, false},
		{"", []routing.RedirectTarget{{"", "192.0.2.9"}}, 0, false},
		{"+12025550123", nil, 0, false},
	} {
		i, ok := routing.SelectRedirect(trunk, c.dialled, c.places)
		assert.Equal(t, []any{c.index, c.ok}, []any{i, ok}, "%v", c)
	}
	_, ok := routing.SelectRedirect(&domain.Trunk{}, "+12025550123", []routing.RedirectTarget{{"+12025550123", "192.0.2.9"}})
	assert.False(t, ok, "nothing is allowed unless it is said")
}
