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

// Keys manages API keys. Callers ensure that a new key has at most the permissions of its creator.
type Keys interface {
	// CreateKey creates a key. It returns the key and its secret text, which is not stored. The audit entry by is
	// committed together with the key.
	CreateKey(ctx context.Context, p domain.Principal, by record.AuditAction, k *domain.APIKey) (made *domain.APIKey, text string, err error)
	APIKey(ctx context.Context, p domain.Principal, id string) (*domain.APIKey, error)
	// ListKeys lists the keys of both environments for a live credential, and the test keys for a test credential.
	ListKeys(ctx context.Context, p domain.Principal, q keys.Query) (record.Page[*domain.APIKey], error)
	UpdateKey(ctx context.Context, p domain.Principal, id string, change func(*domain.APIKey) error) (*domain.APIKey, error)
	// RevokeKey revokes a key and its child keys, which are invalid when it returns. It returns which resources that the
	// keys created remain. The audit entry by is committed together with the revocation.
	RevokeKey(ctx context.Context, p domain.Principal, by record.AuditAction, id string, o keys.RevokeRequest) (keys.RevokeResult, error)
}

// keyHandlers serves the operations on API keys.
type keyHandlers struct {
	*router.Router

	keys Keys
}

// NewKey is the request body that creates an API key.
type NewKey struct {
	Name        string              `json:"name"`
	Permissions []domain.Permission `json:"permissions" nullable:"false" doc:"At most the permissions of the key that creates it."`
	AllowedIPs  []string            `json:"allowed_ips,omitempty" nullable:"false" doc:"Addresses or CIDRs, within those of the key that creates it. Default: those of the key that creates it. []: from everywhere."`
	Environment string              `json:"environment,omitempty" enum:"live,test" doc:"Default: the environment of the key that creates it."`
	ExpiresAt   *time.Time          `json:"expires_at,omitempty" doc:"Not later than the end of the key that creates it. Default: the end of that key."`
	Metadata    map[string]string   `json:"metadata,omitempty"`
}

// KeyChange holds the members of an API key that a PATCH can change.
type KeyChange struct {
	Name       *string           `json:"name,omitempty"`
	AllowedIPs []string          `json:"allowed_ips,omitempty" nullable:"false" doc:"Must be within the addresses of the requesting key and of the key's parents. []: from everywhere."`
	Metadata   map[string]string `json:"metadata,omitempty"`
	Adopt      bool              `json:"adopt,omitempty" doc:"true removes the parent of the key, so that the key outlives the key that created it. Operator keys only. A key whose parent was revoked or has expired cannot be adopted, because it ended with its parent."`
}

// APIKey is the API form of an API key. It has no secret and no hash.
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
	Key         string              `json:"key,omitempty" doc:"The secret key. Only in the response to its creation."`
}

// showKey converts a stored API key to the form that the API returns, without the hash.
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

// registerKeys registers the routes for API keys.
func registerKeys(r *router.Router, service Keys) {
	s := &keyHandlers{Router: r, keys: service}
	const tag, path = "API keys", "/v1/api-keys"
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path, ID: "createKey", Credential: router.KeyOrSession, Tag: tag, Status: http.StatusCreated, Summary: "Create an API key", Description: "Only this response contains the key."}, s.createKey)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listKeys", Tag: tag, Summary: "List API keys", Description: "A live credential gets the live and test keys of the workspace, a test credential only the test keys."},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.Paging
			Environment string `query:"environment" enum:"live,test" doc:"Filters by environment."`
		},
		) (*router.Response[router.List[*APIKey]], error) {
			l, err := s.keys.ListKeys(ctx, p, keys.Query{PageQuery: in.Query(), Environment: domain.Environment(in.Environment)})
			return router.Page(l, err, showKey)
		})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getKey", Tag: tag, Summary: "Get an API key"},
		router.HandleByID(domain.PrefixKey, s.keys, Keys.APIKey, showKey))
	router.Add(s.Router, router.Operation{Method: http.MethodPut, Path: path + "/{id}", ID: "updateKey", Credential: router.KeyOrSession, Tag: tag, Summary: "Change the allowed addresses or the name of an API key, or remove its parent"}, s.updateKey)
	router.Add(s.Router, router.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", ID: "revokeKey", Credential: router.KeyOrSession, Tag: tag, Summary: "Revoke an API key at once",
		Description: "Ends the key, its child keys, and the tokens, tickets, sign-in links, sessions and consents created with them. OAuth clients, users, webhooks and phones that the key " +
			"created, directly or through other credentials, remain and are listed in remaining. With cascade=true they are deleted too. A revoked or expired key can be revoked again with cascade=true.",
	}, s.revokeKey)
}

// RevokeKeyResult is the response to the revocation of a key.
type RevokeKeyResult struct {
	router.Deleted

	Remaining []domain.ResourceRef `json:"remaining" doc:"Resources that the key created and that remain. With cascade=true: trunks, SMS gateways and tools, which calls may need, and users whom the requesting key may not delete."`
	Ended     []domain.ResourceRef `json:"ended" doc:"Resources that the key created and that cascade=true has deleted."`
}

func (s *keyHandlers) revokeKey(ctx context.Context, p domain.Principal, in *struct {
	router.IDParam
	Cascade bool `query:"cascade" doc:"true also deletes the resources that the key created."`
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

// key returns the API key that the request body describes, or its validation errors. p is the principal that creates
// the key.
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
		return nil, domain.Errorf(domain.CodeInsufficientPermissions, "A key cannot create a key with more permissions than its own.").With("required", k.Permissions)
	}
	if k.Environment == domain.Live && p.Environment != domain.Live {
		return nil, domain.Errorf(domain.CodeInsufficientPermissions, "A test key cannot create a live key.")
	}
	created, text, err := s.keys.CreateKey(ctx, p, auditAction(ctx), k)
	if err != nil {
		return nil, err
	}
	router.SetResourceID(ctx, created.ID)
	shown := showKey(created)
	shown.Key = text
	return router.Respond(shown, nil)
}

// auditAction returns the audit entry of a request, to which the service adds the action. The service commits the entry
// together with its change.
func auditAction(ctx context.Context) record.AuditAction {
	return router.RequestOf(ctx).AuditAction("auth", "")
}

// checkKeyAccess returns an error if the principal may not manage a key. Only operators manage operator keys. A
// principal manages only keys whose permissions it has itself.
func checkKeyAccess(p domain.Principal, k *domain.APIKey) error {
	if k.Operator && !p.Operator {
		return domain.Errorf(domain.CodeOperatorRequired, "An operator key can only be changed by an operator key.")
	}
	if !p.Operator && !access.IsSubset(k.Permissions, p.Permissions) {
		return domain.Errorf(domain.CodeInsufficientPermissions, "The key has permissions that the requesting key does not have.").With("required", k.Permissions)
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
				return domain.Errorf(domain.CodeOperatorRequired, "Only an operator key can adopt a key.")
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

// CheckRules returns the violations of the rules for a new key that the JSON schema cannot express.
func (n *NewKey) CheckRules(_ context.Context, _ router.Workspaces, p domain.Principal) error {
	_, err := n.key(p)
	return err
}
