package validation

import (
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
)

// Key returns all problems with an API key.
func Key(k *domain.APIKey, now time.Time) domain.Problems {
	var p domain.Problems
	Text(&p, "name", k.Name, true, MaxName)
	Metadata(&p, k.Metadata)
	access.CheckPermissions("permissions", k.Permissions, &p)
	access.CheckAllowedIPs("allowed_ips", k.AllowedIPs, &p)
	if k.Environment != domain.Live && k.Environment != domain.Test {
		p.Add("environment", domain.CodeValidation, "%q is neither live nor test", shorten(string(k.Environment)))
	}
	if k.ExpiresAt != nil && !k.ExpiresAt.After(now) {
		p.Add("expires_at", domain.CodeValidation, "is in the past")
	}
	k.AllowedIPs = orEmpty(k.AllowedIPs)
	return p
}
