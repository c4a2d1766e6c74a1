package account

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record"
)

// Users manages the users of a workspace and their sessions. Callers ensure that a new user has at most the
// permissions of the key that creates it.
type Users interface {
	CreateUser(ctx context.Context, p domain.Principal, u *domain.User) (*domain.User, error)
	User(ctx context.Context, p domain.Principal, id string) (*domain.User, error)
	ListUsers(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.User], error)
	// UpdateUser changes a user. The permissions of a new role apply as soon as the method returns.
	UpdateUser(ctx context.Context, p domain.Principal, id string, change func(*domain.User) error) (*domain.User, error)
	// DeleteUser deletes a user and ends the user's sessions and grants. In this and the following methods, may returns an
	// error for a user whom the caller may not manage. The method then fails with that error.
	DeleteUser(ctx context.Context, p domain.Principal, id string, may func(*domain.User) error) error
	// CreateSignInLink returns the secret of a link with which the user can sign in once.
	CreateSignInLink(ctx context.Context, p domain.Principal, userID string, may func(*domain.User) error) (text string, until time.Time, err error)
	ListSessions(ctx context.Context, p domain.Principal, userID string, q record.PageQuery) (record.Page[*domain.Session], error)
	EndSession(ctx context.Context, p domain.Principal, userID, id string, may func(*domain.User) error) error
}

// NewUser is a user in a request body.
type NewUser struct {
	Name       string            `json:"name"`
	Role       string            `json:"role" enum:"viewer,agent,manager,admin" doc:"viewer reads, agent also places calls, manager also changes agents and campaigns, admin may do everything. At most the permissions of the key that creates the user."`
	Operator   bool              `json:"operator,omitempty" doc:"true: the dashboard shows all workspaces to the user. An admin can also stop all dialing, drain nodes and change alert rules. Set by operators only, for a viewer or an admin of the live environment."`
	AllowedIPs []string          `json:"allowed_ips,omitempty" nullable:"false" doc:"Addresses or CIDRs from which the user signs in, within those of the key that creates the user. Default: those of the key. []: from everywhere."`
	Metadata   map[string]string `json:"metadata,omitempty"`
}

// SignInLink is the response with a sign-in link, which the API shows only once.
type SignInLink struct {
	UserID    string    `json:"user_id" doc:"The user that the link signs in."`
	URL       string    `json:"url" doc:"The link signs in the first person who opens it, so share it securely."`
	ExpiresAt time.Time `json:"expires_at"`
}

// Session is a browser session of a user.
type Session struct {
	domain.Meta
	domain.Provenance

	UserID    string    `json:"user_id" doc:"The signed-in user."`
	IP        string    `json:"ip" doc:"The address of the last request."`
	UserAgent string    `json:"user_agent" doc:"The User-Agent header of the browser."`
	SeenAt    time.Time `json:"seen_at" doc:"Time of the last request, with a precision of five minutes."`
	ExpiresAt time.Time `json:"expires_at"`
}

func showSession(s *domain.Session) *Session {
	return &Session{Meta: s.Meta, Provenance: s.Provenance, UserID: s.UserID, IP: s.IP, UserAgent: s.UserAgent, SeenAt: s.SeenAt, ExpiresAt: s.ExpiresAt()}
}

// SignInPath is the path of sign-in links.
const SignInPath = "/sign-in"

// userHandlers serves the operations on users.
type userHandlers struct {
	*router.Router

	users Users
}

// registerUsers registers the routes for users.
func registerUsers(r *router.Router, users Users) {
	s := &userHandlers{Router: r, users: users}
	const tag, path = "Users", "/v1/users"
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path, ID: "createUser", Credential: router.KeyOrSession, Tag: tag, Status: http.StatusCreated, Summary: "Create a user"}, s.createUser)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listUsers", Tag: tag, Summary: "List users"},
		router.HandleList(s.users, Users.ListUsers, router.Identity))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getUser", Tag: tag, Summary: "Get a user"},
		router.HandleByID(domain.PrefixUser, s.users, Users.User, router.Identity))
	router.Add(s.Router, router.Operation{Method: http.MethodPatch, Path: path + "/{id}", ID: "updateUser", Credential: router.KeyOrSession, Tag: tag, Summary: "Change a user"}, s.updateUser)
	router.Add(s.Router, router.Operation{Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteUser", Credential: router.KeyOrSession, Tag: tag, Summary: "Delete a user and end all sessions and consents at once"},
		func(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[router.Deleted], error) {
			id, err := router.PathID(domain.PrefixUser, in.ID)
			if err != nil {
				return nil, err
			}
			return router.RespondDeleted(id, "user", s.users.DeleteUser(ctx, p, id, ManagesUsers(p)))
		})
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/{id}/sign-in-link", ID: "createSignInLink", Credential: router.KeyOrSession, Tag: tag, Status: http.StatusCreated, Summary: "Create a sign-in link for a user",
		Description: "The link can be used once, within five minutes.",
	}, s.createSignInLink)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}/sessions", ID: "listSessions", Tag: tag, Summary: "List the browser sessions of a user"},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			router.Paging
		},
		) (*router.Response[router.List[*Session]], error) {
			id, err := router.PathID(domain.PrefixUser, in.ID)
			if err != nil {
				return nil, err
			}
			l, err := s.users.ListSessions(ctx, p, id, in.Query())
			return router.Page(l, err, showSession)
		})
	router.Add(s.Router, router.Operation{Method: http.MethodDelete, Path: path + "/{id}/sessions/{session_id}", ID: "endSession", Credential: router.KeyOrSession, Tag: tag, Summary: "End a browser session of a user"},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			SessionID string `path:"session_id" doc:"The id of the session."`
		},
		) (*router.Response[router.Deleted], error) {
			id, err := router.PathID(domain.PrefixUser, in.ID)
			if err != nil {
				return nil, err
			}
			session, err := router.PathID(domain.PrefixSession, in.SessionID)
			if err != nil {
				return nil, err
			}
			return router.RespondDeleted(session, "session", s.users.EndSession(ctx, p, id, session, ManagesUsers(p)))
		})
}

func checkUser(u *domain.User) error {
	var p domain.Problems
	validation.Text(&p, "name", u.Name, true, validation.MaxName)
	validation.Metadata(&p, u.Metadata)
	validation.OperatorUser(&p, u)
	access.CheckAllowedIPs("allowed_ips", u.AllowedIPs, &p)
	return p.Err()
}

func (s *userHandlers) createUser(ctx context.Context, p domain.Principal, in *struct{ Body NewUser }) (*router.Response[*domain.User], error) {
	u := &domain.User{}
	u.Environment = p.Environment
	if err := in.Body.apply(u); err != nil {
		return nil, err
	}
	if err := MayManageUser(p, u); err != nil {
		return nil, err
	}
	created, err := s.users.CreateUser(ctx, p, u)
	if err != nil {
		return nil, err
	}
	router.SetResourceID(ctx, created.ID)
	return router.Respond(created, nil)
}

func (s *userHandlers) updateUser(ctx context.Context, p domain.Principal, in *struct {
	router.IDParam
	Body router.Patch[NewUser]
},
) (*router.Response[*domain.User], error) {
	id, err := router.PathID(domain.PrefixUser, in.ID)
	if err != nil {
		return nil, err
	}
	return router.Respond(s.users.UpdateUser(ctx, p, id, router.PatchFunc(s.Registry, &in.Body, func(n *NewUser, u *domain.User) error {
		if err := MayManageUser(p, u); err != nil {
			return err
		}
		if err := n.apply(u); err != nil {
			return err
		}
		return MayManageUser(p, u)
	})))
}

// apply copies the settings in the request body to a user and validates the user.
func (n *NewUser) apply(u *domain.User) error {
	u.Name, u.Role, u.Operator = n.Name, domain.Role(n.Role), n.Operator
	u.AllowedIPs, u.Metadata = slices.Clone(n.AllowedIPs), n.Metadata
	return checkUser(u)
}

func (s *userHandlers) createSignInLink(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[SignInLink], error) {
	id, err := router.PathID(domain.PrefixUser, in.ID)
	if err != nil {
		return nil, err
	}
	text, until, err := s.users.CreateSignInLink(ctx, p, id, ManagesUsers(p))
	if err != nil {
		return nil, err
	}
	return router.Respond(SignInLink{UserID: id, URL: s.PublicURL + SignInPath + "?token=" + text, ExpiresAt: until}, nil)
}

// CheckRules returns the violations of the rules for a new user that the JSON schema cannot express.
func (n *NewUser) CheckRules(_ context.Context, _ router.Workspaces, p domain.Principal) error {
	u := &domain.User{}
	u.Environment = p.Environment
	return n.apply(u)
}
