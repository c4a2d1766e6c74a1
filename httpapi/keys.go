package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/allow"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/rules"
)

// NewKey is an API key as it is sent.
type NewKey struct {
	Name        string              `json:"name"`
	Permissions []domain.Permission `json:"permissions" nullable:"false" doc:"Not more than the key holds that makes it."`
	AllowedIPs  []string            `json:"allowed_ips,omitempty" nullable:"false" doc:"Addresses or CIDRs; empty: from everywhere."`
	Environment string              `json:"environment,omitempty" doc:"live or test; that of the key that makes it unless said."`
	ExpiresAt   *time.Time          `json:"expires_at,omitempty"`
	Metadata    map[string]string   `json:"metadata,omitempty"`
}

// KeyChange is what can be changed of a key.
type KeyChange struct {
	Name       *string           `json:"name,omitempty"`
	AllowedIPs []string          `json:"allowed_ips,omitempty" nullable:"false" doc:"[] lets every address in."`
	Metadata   map[string]string `json:"metadata,omitempty"`
	Adopt      bool              `json:"adopt,omitempty" doc:"true, by an operator key: the key has no parent any more, and outlives the one that made it. A key whose parent is revoked or expired has died with it."`
}

// APIKey is a key as the API shows it.
type APIKey struct {
	domain.Meta
	Name        string              `json:"name"`
	Permissions []domain.Permission `json:"permissions"`
	AllowedIPs  []string            `json:"allowed_ips"`
	Operator    bool                `json:"operator"`
	ParentID    string              `json:"parent_id,omitempty"`
	KeyPrefix   string              `json:"key_prefix"`
	Last4       string              `json:"last4"`
	ExpiresAt   *time.Time          `json:"expires_at"`
	RevokedAt   *time.Time          `json:"revoked_at,omitempty"`
	LastUsedAt  *time.Time          `json:"last_used_at"`
	Key         string              `json:"key,omitempty" doc:"The key itself, only in the answer to its creation."`
}

// showKey leaves the hash behind.
func showKey(k *domain.APIKey) *APIKey {
	return &APIKey{
		Meta: k.Meta, Name: k.Name, Permissions: k.Permissions, AllowedIPs: k.AllowedIPs, Operator: k.Operator, ParentID: k.ParentID,
		KeyPrefix: k.KeyPrefix, Last4: k.Last4, ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt, LastUsedAt: k.LastUsedAt,
	}
}

func shownKey(k *domain.APIKey, err error) (*answer[*APIKey], error) {
	if err != nil {
		return nil, err
	}
	return ok(showKey(k), nil)
}

func (s *Server) keyRoutes() {
	const tag, path = "API keys", "/v1/api-keys"
	add(s, operation{method: http.MethodPost, path: path, id: "createKey", tag: tag, status: http.StatusCreated, summary: "Create an API key", about: "The answer holds the key, this once."}, s.createKey)
	add(s, operation{method: http.MethodGet, path: path, id: "listKeys", tag: tag, summary: "List API keys"},
		func(ctx context.Context, p domain.Principal, in *struct{ Paging }) (*answer[List[*APIKey]], error) {
			l, err := s.ports.Keys.ListKeys(ctx, p, in.page())
			return page(l, err, showKey)
		})
	add(s, operation{method: http.MethodGet, path: path + "/{id}", id: "getKey", tag: tag, summary: "Get an API key"},
		func(ctx context.Context, p domain.Principal, in *One) (*answer[*APIKey], error) {
			id, err := named(domain.PrefixKey, in.ID)
			if err != nil {
				return nil, err
			}
			return shownKey(s.ports.Keys.APIKey(ctx, p, id))
		})
	add(s, operation{method: http.MethodPut, path: path + "/{id}", id: "updateKey", tag: tag, summary: "Change the addresses or the name of an API key, or adopt it"}, s.updateKey)
	add(s, operation{method: http.MethodDelete, path: path + "/{id}", id: "revokeKey", tag: tag, summary: "Revoke an API key at once"},
		func(ctx context.Context, p domain.Principal, in *One) (*answer[Deleted], error) {
			id, err := named(domain.PrefixKey, in.ID)
			if err != nil {
				return nil, err
			}
			k, err := s.ports.Keys.APIKey(ctx, p, id)
			if err != nil {
				return nil, err
			}
			if err := mayTouch(p, k); err != nil {
				return nil, err
			}
			return deleted(id, "api_key", s.ports.Keys.RevokeKey(ctx, p, actOf(ctx), id))
		})
}

func (s *Server) createKey(ctx context.Context, p domain.Principal, in *struct{ Body NewKey }) (*answer[*APIKey], error) {
	k := &domain.APIKey{
		Name: in.Body.Name, Permissions: in.Body.Permissions, AllowedIPs: in.Body.AllowedIPs,
		ExpiresAt: utc(in.Body.ExpiresAt), ParentID: p.KeyID,
	}
	k.Metadata, k.Environment = in.Body.Metadata, domain.Environment(in.Body.Environment)
	if k.Environment == "" {
		k.Environment = p.Environment
	}
	if err := rules.Key(k, time.Now()).Err(); err != nil {
		return nil, err
	}
	if !allow.Subset(k.Permissions, p.Permissions) {
		return nil, domain.Errorf(domain.CodeInsufficientPermissions, "A key cannot make one that may do more than itself.").With("required", k.Permissions)
	}
	if k.Environment == domain.Live && p.Environment != domain.Live {
		return nil, domain.Errorf(domain.CodeInsufficientPermissions, "A test key cannot make a live one.")
	}
	made, text, err := s.ports.Keys.CreateKey(ctx, p, actOf(ctx), k)
	if err != nil {
		return nil, err
	}
	touch(ctx, made.ID)
	shown := showKey(made)
	shown.Key = text
	return ok(shown, nil)
}

// actOf is who asks from where, for what is audited in its own commit.
func actOf(ctx context.Context) ask.Act { return visitOf(ctx).act("auth", "") }

// mayTouch keeps operator keys out of the hands of others, and keys that may do
// more than the one that asks.
func mayTouch(p domain.Principal, k *domain.APIKey) error {
	if k.Operator && !p.Operator {
		return domain.Errorf(domain.CodeOperatorRequired, "An operator key can only be changed by an operator key.")
	}
	if !p.Operator && !allow.Subset(k.Permissions, p.Permissions) {
		return domain.Errorf(domain.CodeInsufficientPermissions, "The key may do more than the one that asks.").With("required", k.Permissions)
	}
	return nil
}

func (s *Server) updateKey(ctx context.Context, p domain.Principal, in *struct {
	One
	Body KeyChange
},
) (*answer[*APIKey], error) {
	id, err := named(domain.PrefixKey, in.ID)
	if err != nil {
		return nil, err
	}
	return shownKey(s.ports.Keys.UpdateKey(ctx, p, id, func(k *domain.APIKey) error {
		if err := mayTouch(p, k); err != nil {
			return err
		}
		set(&k.Name, in.Body.Name)
		if in.Body.Adopt {
			if !p.Operator {
				return domain.Errorf(domain.CodeOperatorRequired, "Only an operator key adopts a key.")
			}
			k.ParentID = ""
		}
		if in.Body.AllowedIPs != nil {
			k.AllowedIPs = in.Body.AllowedIPs
		}
		if in.Body.Metadata != nil {
			k.Metadata = in.Body.Metadata
		}
		var problems domain.Problems
		rules.Text(&problems, "name", k.Name, true, rules.MaxName)
		rules.Metadata(&problems, k.Metadata)
		allow.CheckAllowedIPs("allowed_ips", k.AllowedIPs, &problems)
		return problems.Err()
	}))
}
