package access_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
)

type permissions = []domain.Permission

func TestPermissionsCoverImpliedPermissions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		have permissions
		need domain.Permission
		want bool
	}{
		"the same":                      {permissions{domain.CallsRead}, domain.CallsRead, true},
		"all reading covers one":        {permissions{domain.AllRead}, domain.CallsRead, true},
		"all reading covers analytics":  {permissions{domain.AllRead}, domain.AnalyticsRead, true},
		"all reading covers itself":     {permissions{domain.AllRead}, domain.AllRead, true},
		"all writing covers one":        {permissions{domain.AllWrite}, domain.AgentsWrite, true},
		"write does not imply read":     {permissions{domain.CallsWrite}, domain.CallsRead, false},
		"all writing does not read":     {permissions{domain.AllWrite}, domain.CallsRead, false},
		"reading does not write":        {permissions{domain.AllRead}, domain.CallsWrite, false},
		"one area is not another":       {permissions{domain.CallsRead}, domain.AgentsRead, false},
		"one area is not all":           {permissions{domain.CallsRead, domain.AgentsRead, domain.AnalyticsRead}, domain.AllRead, false},
		"nothing covers nothing":        {nil, domain.CallsRead, false},
		"an empty need is never met":    {permissions{domain.AllRead, domain.AllWrite}, "", false},
		"a need without a verb":         {permissions{domain.AllRead}, "calls", false},
		"a need without an area":        {permissions{domain.AllRead}, ":read", false},
		"the second of two is enough":   {permissions{domain.AgentsRead, domain.CallsWrite}, domain.CallsWrite, true},
		"a held word without verb":      {permissions{"*"}, domain.CallsRead, false},
		"an area is not its own prefix": {permissions{"call:read"}, domain.CallsRead, false},
	} {
		assert.Equal(t, c.want, access.Covers(c.have, c.need), name)
	}
}

func TestChildKeyCannotExceedParent(t *testing.T) {
	t.Parallel()
	assert.True(t, access.IsSubset(permissions{domain.CallsRead, domain.AgentsRead}, permissions{domain.AllRead}))
	assert.True(t, access.IsSubset(nil, permissions{domain.CallsRead}))
	assert.False(t, access.IsSubset(permissions{domain.CallsRead, domain.CallsWrite}, permissions{domain.AllRead}))
	assert.False(t, access.IsSubset(permissions{domain.AllRead}, permissions{domain.CallsRead}))
}

func TestAllUnknownPermissionsAreReported(t *testing.T) {
	t.Parallel()
	var p domain.Problems
	access.CheckPermissions("permissions", permissions{"calls:read", "calls:delete", "root"}, &p)
	assert.Len(t, p, 2)
	var none domain.Problems
	access.CheckPermissions("permissions", nil, &none)
	assert.Len(t, none, 1)
}

func TestAllowedAddresses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		list   []string
		client string
		want   bool
	}{
		"an empty list allows all":       {nil, "203.0.113.9", true},
		"the address itself":             {[]string{"203.0.113.9"}, "203.0.113.9", true},
		"another address":                {[]string{"203.0.113.9"}, "203.0.113.8", false},
		"inside a network":               {[]string{"198.51.100.0/24"}, "198.51.100.77", true},
		"outside a network":              {[]string{"198.51.100.0/24"}, "198.51.101.77", false},
		"a network with host bits":       {[]string{"198.51.100.9/24"}, "198.51.100.77", true},
		"IPv4 that came in over IPv6":    {[]string{"203.0.113.9"}, "::ffff:203.0.113.9", true},
		"a mapped entry":                 {[]string{"::ffff:203.0.113.9"}, "203.0.113.9", true},
		"a mapped network":               {[]string{"::ffff:203.0.113.0/120"}, "203.0.113.9", true},
		"IPv6":                           {[]string{"2001:db8::/32"}, "2001:db8:1::7", true},
		"IPv6 in another spelling":       {[]string{"2001:DB8:0:0::7"}, "2001:db8::7", true},
		"IPv6 is not all of IPv4":        {[]string{"::/0"}, "203.0.113.9", false},
		"all of IPv4":                    {[]string{"0.0.0.0/0"}, "203.0.113.9", true},
		"a zone does not matter":         {[]string{"fe80::/10"}, "fe80::1%eth0", true},
		"the second entry":               {[]string{"10.0.0.1", "10.0.0.2"}, "10.0.0.2", true},
		"an entry that is none":          {[]string{"everywhere"}, "203.0.113.9", false},
		"an invalid client is no client": {[]string{"0.0.0.0/0"}, "", false},
	} {
		client, _ := netip.ParseAddr(c.client)
		assert.Equal(t, c.want, access.IsAllowedIP(c.list, client), name)
	}
}

func TestInvalidAddressEntriesAreReported(t *testing.T) {
	t.Parallel()
	var p domain.Problems
	access.CheckAllowedIPs("allowed_ips", []string{
		"10.0.0.1", "2001:db8::/32", "10.0.0.0/8", "10.0.0.1/33", "10.0.0", "fe80::1%eth0", "x", "", "10.0.0.0/-1",
	}, &p)
	assert.Len(t, p, 6)
	var many domain.Problems
	access.CheckAllowedIPs("allowed_ips", make([]string, access.MaxAllowedIPs+1), &many)
	assert.Len(t, many, 1)
}
