package administration

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/service/record"
)

func (s *storeAdministration) CreateUser(ctx context.Context, n NewUser) (*domain.User, error) {
	u := &domain.User{Name: n.Name, Role: domain.Role(n.Role), Operator: n.Operator, AllowedIPs: []string{}}
	u.Environment = cmp.Or(n.Environment, domain.Live)
	var ps domain.Problems
	validation.Text(&ps, "name", u.Name, true, validation.MaxName)
	if u.Role.Permissions() == nil {
		ps.Add("role", domain.CodeValidation, "role must be viewer, agent, manager or admin")
	}
	validation.OperatorUser(&ps, u)
	switch {
	case u.Environment != domain.Live && u.Environment != domain.Test:
		ps.Add("environment", domain.CodeValidation, "environment must be live or test")
	case u.Operator && u.Environment == domain.Test:
		ps.Add("environment", domain.CodeValidation, "environment must be live for an operator: leave out --environment or --operator")
	}
	err := ps.Err()
	if err == nil {
		n.Workspace, err = WorkspaceID(ctx, s.store, n.Workspace)
	}
	if err == nil && u.Operator {
		err = s.checkOperatorWorkspace(ctx, n.Workspace)
	}
	if err == nil {
		err = s.openOffline(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s.services().Users.CreateUserInWorkspace(ctx, n.Workspace, u)
}

// checkOperatorWorkspace returns an error if a workspace has no operator key and so must not get an operator user. The
// alert rules of an operator cover all workspaces, and their events go to the webhooks of the operator's workspace.
func (s *storeAdministration) checkOperatorWorkspace(ctx context.Context, workspace string) error {
	keys, err := s.ListKeys(ctx, workspace)
	if err != nil || slices.ContainsFunc(keys, func(k *domain.APIKey) bool {
		return k.Operator && k.WorkspaceID == workspace && KeyState(k) == keyActive
	}) {
		return err
	}
	var ps domain.Problems
	ps.Add("operator", domain.CodeValidation, "must be false in a workspace without an operator key, because alerts about other workspaces would go to its webhooks")
	return ps.Err()
}

func (s *storeAdministration) ListUsers(ctx context.Context, workspace string) (out []*domain.User, err error) {
	all, err := s.ListWorkspaces(ctx)
	if err == nil {
		err = s.openOffline(ctx)
	}
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		if workspace != "" && w.ID != workspace {
			continue
		}
		for _, environment := range []domain.Environment{domain.Live, domain.Test} {
			if out, err = s.listUsers(ctx, out, domain.Principal{WorkspaceID: w.ID, Environment: environment}); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// listUsers appends the users of one environment to out. p selects the workspace and the environment.
func (s *storeAdministration) listUsers(ctx context.Context, out []*domain.User, p domain.Principal) ([]*domain.User, error) {
	for page := (record.PageQuery{Limit: 100}); ; {
		l, err := s.services().Users.ListUsers(ctx, p, page)
		if err != nil {
			return nil, err
		}
		out = append(out, l.Data...)
		if page.Cursor = l.Next; l.Next == "" {
			return out, nil
		}
	}
}

func (s *storeAdministration) CreateSignInLink(ctx context.Context, userID string) (SignInLink, error) {
	all, err := s.ListUsers(ctx, "")
	if err != nil {
		return SignInLink{}, err
	}
	for _, u := range all {
		if u.ID != userID {
			continue
		}
		text, until, err := s.services().Users.CreateSignInLinkForAnyUser(ctx, u)
		return SignInLink{UserID: u.ID, URL: s.baseURL + "/sign-in?token=" + text, ExpiresAt: until}, err
	}
	return SignInLink{}, fmt.Errorf("there is no user %s", userID)
}
