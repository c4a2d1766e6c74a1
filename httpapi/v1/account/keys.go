package account

import (
	"context"
	"net/http"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/keys"
	"github.com/callboard/callboard/service/record"
)

// Keys are API keys. The handler has checked that a new key has no more rights than its creator.
type Keys interface {
	// CreateKey answers the key and its text, which is never kept. That it was
	// made is audited in the same commit, as that it was revoked.
	CreateKey(ctx context.Context, p domain.Principal, by record.AuditAction, k *domain.APIKey) (made *domain.APIKey, text string, err error)
	APIKey(ctx context.Context, p domain.Principal, id string) (*domain.APIKey, error)
	// ListKeys: a live credential sees the keys of both environments, a test one
	// those of its own.
	ListKeys(ctx context.Context, p domain.Principal, q keys.Query) (record.Page[*domain.APIKey], error)
	UpdateKey(ctx context.Context, p domain.Principal, id string, change func(*domain.APIKey) error) (*domain.APIKey, error)
	// RevokeKey: from its return on the key is refused, and its children too. It
	// answers what became of the resources that they created.
	RevokeKey(ctx context.Context, p domain.Principal, by record.AuditAction, id string, o keys.RevokeRequest) (keys.RevokeResult, error)
}

// keyHandlers serves the operations of API keys.
type keyHandlers struct {
	*router.Router

	keys Keys
}

// NewKey is an API key as it is sent.
type NewKey struct {
	Name        string              `json:"name"`
	Permissions []domain.Permission `json:"permissions" nullable:"false" doc:"Not more than the key holds that makes it."`
	AllowedIPs  []string            `json:"allowed_ips,omitempty" nullable:"false" doc:"Addresses or CIDRs, within those of the key that creates it. Default: those of the key that creates it. []: from everywhere."`
	Environment string              `json:"environment,omitempty" enum:"live,test" doc:"That of the key that makes it unless said."`
	ExpiresAt   *time.Time          `json:"expires_at,omitempty" doc:"Not later than the end of the key that creates it. Default: the end of that key."`
	Metadata    map[string]string   `json:"metadata,omitempty"`
}

// KeyChange is what can be changed of a key.
type KeyChange struct {
	Name       *string           `json:"name,omitempty"`
	AllowedIPs []string          `json:"allowed_ips,omitempty" nullable:"false" doc:"[] lets every address in. Must lie within the addresses of the key that asks and of the key's parents."`
	Metadata   map[string]string `json:"metadata,omitempty"`
	Adopt      bool              `json:"adopt,omitempty" doc:"true, by an operator key: the key has no parent any more, and outlives the one that made it. A key whose parent is revoked or expired has died with it."`
}

// APIKey is a key as the API shows it.
type APIKey struct {
	domain.Meta
	domain.Provenance

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
		Meta: k.Meta, Provenance: k.Provenance, Name: k.Name, Permissions: k.Permissions, AllowedIPs: k.AllowedIPs, Operator: k.Operator, ParentID: k.ParentID,
		KeyPrefix: k.KeyPrefix, Last4: k.Last4, ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt, LastUsedAt: k.LastUsedAt,
	}
}

func respondKey(k *domain.APIKey, err error) (*router.Response[*APIKey], error) {
	if err != nil {
		return nil, err
	}
	return router.Respond(showKey(k), nil)
}

// registerKeys registers the operations of API keys.
func registerKeys(r *router.Router, service Keys) {
	s := &keyHandlers{Router: r, keys: service}
	const tag, path = "API keys", "/v1/api-keys"
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path, ID: "createKey", Credential: router.KeyOrSession, Tag: tag, Status: http.StatusCreated, Summary: "Create an API key", Description: "The answer holds the key, this once."}, s.createKey)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listKeys", Tag: tag, Summary: "List API keys", Description: "A live credential sees the live and the test keys of the workspace, a test credential the test keys."},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.Paging
			Environment string `query:"environment" enum:"live,test" doc:"Only keys of this environment."`
		},
		) (*router.Response[router.List[*APIKey]], error) {
			l, err := s.keys.ListKeys(ctx, p, keys.Query{PageQuery: in.Query(), Environment: domain.Environment(in.Environment)})
			return router.Page(l, err, showKey)
		})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getKey", Tag: tag, Summary: "Get an API key"},
		router.HandleByID(domain.PrefixKey, s.keys, Keys.APIKey, showKey))
	router.Add(s.Router, router.Operation{Method: http.MethodPut, Path: path + "/{id}", ID: "updateKey", Credential: router.KeyOrSession, Tag: tag, Summary: "Change the addresses or the name of an API key, or adopt it"}, s.updateKey)
	router.Add(s.Router, router.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", ID: "revokeKey", Credential: router.KeyOrSession, Tag: tag, Summary: "Revoke an API key at once",
		Description: "Ends the key, its child keys, and the tokens, tickets, sign-in links, sessions and consents that came of them. OAuth clients, users, webhooks and phones that the key " +
			"created, directly or through other credentials, go on and stand in remaining; with cascade=true they end, too. A key that was revoked before, or has expired, can be revoked again with cascade=true.",
	}, s.revokeKey)
}

// RevokeKeyResult is the response to the revocation of a key.
type RevokeKeyResult struct {
	router.Deleted

	Remaining []domain.ResourceRef `json:"remaining" doc:"What the key created and what goes on. With cascade=true: trunks, SMS gateways and tools, which calls may need, and users whom the caller may not delete."`
	Ended     []domain.ResourceRef `json:"ended" doc:"What the key created and what cascade=true has ended."`
}

func (s *keyHandlers) revokeKey(ctx context.Context, p domain.Principal, in *struct {
	router.IDParam
	Cascade bool `query:"cascade" doc:"true: end what the key created, too."`
},
) (*router.Response[RevokeKeyResult], error) {
	id, err := router.PathID(domain.PrefixKey, in.ID)
	if err != nil {
		return nil, err
	}
	k, err := s.keys.APIKey(ctx, p, id)
	if err != nil {
		return nil, err
	}
	if err = checkKeyAccess(p, k); err != nil {
		return nil, err
	}
	done, err := s.keys.RevokeKey(ctx, p, auditAction(ctx), id, keys.RevokeRequest{Cascade: in.Cascade, MayEnd: ManagesUsers(p)})
	return router.Respond(RevokeKeyResult{Deleted: router.Deleted{ID: id, Object: "api_key", Deleted: true}, Remaining: done.Remaining, Ended: done.Ended}, err)
}

// key is the key that is asked for.
func (n *NewKey) key(p domain.Principal) (*domain.APIKey, error) {
	k := &domain.APIKey{Name: n.Name, Permissions: n.Permissions, AllowedIPs: n.AllowedIPs, ExpiresAt: router.UTC(n.ExpiresAt), ParentID: p.KeyID}
	k.Metadata, k.Environment = n.Metadata, domain.Environment(n.Environment)
	if k.Environment == "" {
		k.Environment = p.Environment
	}
	return k, validation.Key(k, time.Now()).Err()
}

func (s *keyHandlers) createKey(ctx context.Context, p domain.Principal, in *struct{ Body NewKey }) (*router.Response[*APIKey], error) {
	k, err := in.Body.key(p)
	if err != nil {
		return nil, err
	}
	if !access.IsSubset(k.Permissions, p.Permissions) {
		return nil, domain.Errorf(domain.CodeInsufficientPermissions, "A key cannot make one that may do more than itself.").With("required", k.Permissions)
	}
	if k.Environment == domain.Live && p.Environment != domain.Live {
		return nil, domain.Errorf(domain.CodeInsufficientPermissions, "A test key cannot make a live one.")
	}
	made, text, err := s.keys.CreateKey(ctx, p, auditAction(ctx), k)
	if err != nil {
		return nil, err
	}
	router.SetResourceID(ctx, made.ID)
	shown := showKey(made)
	shown.Key = text
	return router.Respond(shown, nil)
}

// auditAction is who asks from where, for what is audited in its own commit.
func auditAction(ctx context.Context) record.AuditAction {
	return router.RequestOf(ctx).AuditAction("auth", "")
}

// checkKeyAccess keeps operator keys out of the hands of others, and keys that may do
// more than the one that asks.
func checkKeyAccess(p domain.Principal, k *domain.APIKey) error {
	if k.Operator && !p.Operator {
		return domain.Errorf(domain.CodeOperatorRequired, "An operator key can only be changed by an operator key.")
	}
	if !p.Operator && !access.IsSubset(k.Permissions, p.Permissions) {
		return domain.Errorf(domain.CodeInsufficientPermissions, "The key may do more than the one that asks.").With("required", k.Permissions)
	}
	return nil
}

func (s *keyHandlers) updateKey(ctx context.Context, p domain.Principal, in *struct {
	router.IDParam
	Body KeyChange
},
) (*router.Response[*APIKey], error) {
	id, err := router.PathID(domain.PrefixKey, in.ID)
	if err != nil {
		return nil, err
	}
	return respondKey(s.keys.UpdateKey(ctx, p, id, func(k *domain.APIKey) error {
		if err := checkKeyAccess(p, k); err != nil {
			return err
		}
		router.SetIfSent(&k.Name, in.Body.Name)
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
		validation.Text(&problems, "name", k.Name, true, validation.MaxName)
		validation.Metadata(&problems, k.Metadata)
		access.CheckAllowedIPs("allowed_ips", k.AllowedIPs, &problems)
		return problems.Err()
	}))
}

// CheckRules checks what the schema cannot express.
func (n *NewKey) CheckRules(_ context.Context, _ router.Workspaces, p domain.Principal) error {
	_, err := n.key(p)
	return err
}
