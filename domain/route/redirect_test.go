package route_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/route"
)

func TestACallIsSentOnToAllowedHostsForTheSameNumberOnly(t *testing.T) {
	t.Parallel()
	trunk := &domain.Trunk{RedirectHosts: []string{"Signer.example.com", "192.0.2.0/24", "[2001:db8::1]", "198.51.100.7"}}
	for _, c := range []struct {
		dialled string
		places  []route.Place
		index   int
		ok      bool
	}{
		{"+12025550123", []route.Place{{"+12025550123", "signer.EXAMPLE.com"}}, 0, true},
		{"+12025550123", []route.Place{{"12025550123", "signer.example.com."}}, 0, true},
		{"+12025550123", []route.Place{{"+12025550124", "192.0.2.9"}, {"+12025550123", "192.0.2.9"}}, 1, true},
		{"12025550123", []route.Place{{"12025550123", "[2001:db8::1]"}}, 0, true},
		{"+12025550123", []route.Place{{"+12025550123", "198.51.100.7"}}, 0, true},
		{"+12025550123", []route.Place{{"+12025550123", "::ffff:198.51.100.7"}}, 0, true},
		{"+12025550123", []route.Place{{"+12025550123", "198.51.100.8"}}, 0, false},
		{"+12025550123", []route.Place{{"+12025550123", "evil.signer.example.com"}}, 0, false},
		{"+12025550123", []route.Place{{"+12025550123", "2001:db8::2"}}, 0, false},
		{"+12025550123", []route.Place{{"+12025550199", "192.0.2.9"}}, 0, false},
		{"", []route.Place{{"", "192.0.2.9"}}, 0, false},
		{"+12025550123", nil, 0, false},
	} {
		i, ok := route.Follow(trunk, c.dialled, c.places)
		assert.Equal(t, []any{c.index, c.ok}, []any{i, ok}, "%v", c)
	}
	_, ok := route.Follow(&domain.Trunk{}, "+12025550123", []route.Place{{"+12025550123", "192.0.2.9"}})
	assert.False(t, ok, "nothing is allowed unless it is said")
}
