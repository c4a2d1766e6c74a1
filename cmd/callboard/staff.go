package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/validation"
)

// newTenant asks for a workspace.
type newTenant struct {
	Name    string `json:"name"`
	Plan    string `json:"plan"`
	Country string `json:"country"`
}

// madeTenant is a workspace with its first key, shown this once.
type madeTenant struct {
	*domain.Workspace
	KeyID string `json:"key_id"`
	Key   string `json:"key"`
}

// newPerson asks for a user.
type newPerson struct {
	Workspace string `json:"workspace"` // id; "": the only one
	Name      string `json:"name"`
	Role      string `json:"role"`
	Operator  bool   `json:"operator"`

	Environment domain.Environment `json:"environment"` // whose data the user sees; "": live
}

// link signs a user in, once.
type link struct {
	UserID    string    `json:"user_id"`
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

// staffDesk is what the commands for workspaces and users need.
type staffDesk interface {
	createTenant(ctx context.Context, n newTenant) (madeTenant, error)
	tenants(ctx context.Context) ([]*domain.Workspace, error)
	deleteTenant(ctx context.Context, id string) error
	createPerson(ctx context.Context, n newPerson) (*domain.User, error)
	people(ctx context.Context, workspace string) ([]*domain.User, error)
	linkOf(ctx context.Context, userID string) (link, error)
}

// staff works on the running service's desk, or on that of a stopped store.
type staff struct {
	running *actors.Desk // nil: nothing runs
	stopped *actors.Stopped
	v       *vault
	base    string // of links
	demo    bool   // there is a built-in carrier
}

func (s *staff) desk() *actors.Desk {
	if s.running != nil {
		return s.running
	}
	return s.stopped.Desk()
}

// ready opens the desk of a stopped store, when it is first asked for.
func (s *staff) ready(ctx context.Context) (err error) {
	if s.running == nil && s.stopped == nil {
		s.stopped, err = actors.NewStopped(ctx, s.v.store, s.v.keys, slog.New(slog.DiscardHandler))
	}
	return err
}

func (n newTenant) workspace() (*domain.Workspace, error) {
	w := &domain.Workspace{Name: n.Name, Plan: domain.Plan(n.Plan), DefaultCountry: n.Country, Calling: domain.DestinationRules{Countries: []string{n.Country}}}
	limits, fixed := domain.PlanLimits(w.Plan)
	if w.Limits = limits; !fixed {
		w.Limits = domain.RoomyLimits()
	}
	return w, validation.Workspace(w).Err()
}

func (s *staff) createTenant(ctx context.Context, n newTenant) (made madeTenant, err error) {
	w, err := n.workspace()
	if err == nil {
		err = s.ready(ctx)
	}
	if err != nil {
		return made, err
	}
	var key *domain.APIKey
	if s.running != nil {
		made.Workspace, key, made.Key, err = s.running.Local().CreateWorkspace(ctx, w)
	} else {
		made.Workspace, key, made.Key, err = s.stopped.CreateWorkspace(ctx, w, s.demo)
	}
	if err == nil {
		made.KeyID = key.ID
	}
	return made, err
}

func (s *staff) tenants(ctx context.Context) ([]*domain.Workspace, error) {
	return actors.Workspaces(ctx, s.v.store)
}

// tenant is the id of a workspace; "": of the only one.
func (s *staff) tenant(ctx context.Context, id string) (string, error) {
	return storeKeys{s.v}.workspace(ctx, id)
}

func (s *staff) deleteTenant(ctx context.Context, id string) error {
	_, err := s.tenant(ctx, id)
	if err != nil {
		return err
	}
	keys, err := (storeKeys{s.v}).list(ctx, "")
	if err != nil {
		return err
	}
	other := slices.IndexFunc(keys, func(k *domain.APIKey) bool { return k.Operator && k.WorkspaceID != id && stateOf(k) == active })
	if other < 0 {
		return errors.New("no operator key would be left: make one in another workspace first (callboard keys create --operator --workspace …)")
	}
	if s.running != nil {
		return s.running.Local().DeleteWorkspace(ctx, id, keys[other].WorkspaceID)
	}
	if err = s.ready(ctx); err != nil {
		return err
	}
	return s.stopped.DeleteWorkspace(ctx, id, keys[other].WorkspaceID)
}

// revoke revokes a key of any workspace.
func (s *staff) revoke(ctx context.Context, o revokeKeyRequest) (revokeKeyResult, error) {
	id, err := domain.ParseID(domain.PrefixKey, o.ID)
	if err != nil {
		return revokeKeyResult{}, fmt.Errorf("%q is not the id of a key (key_…)", o.ID)
	}
	if err = s.ready(ctx); err != nil {
		return revokeKeyResult{}, err
	}
	done, err := s.desk().Local().RevokeKey(ctx, id, o.Cascade)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return revokeKeyResult{}, fmt.Errorf("there is no key %s", id)
	}
	return revokeKeyResult{ID: id, Revoked: true, Remaining: done.Remaining, Ended: done.Ended}, err
}

func (s *staff) createPerson(ctx context.Context, n newPerson) (*domain.User, error) {
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
		n.Workspace, err = s.tenant(ctx, n.Workspace)
	}
	if err == nil && u.Operator {
		err = s.mayOperate(ctx, n.Workspace)
	}
	if err == nil {
		err = s.ready(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s.desk().Local().CreateUser(ctx, n.Workspace, u)
}

// mayOperate refuses operators in a workspace that has no operator key: what
// their alert rules find, of any workspace, is told to the webhooks of theirs.
func (s *staff) mayOperate(ctx context.Context, workspace string) error {
	keys, err := (storeKeys{s.v}).list(ctx, workspace)
	if err != nil || slices.ContainsFunc(keys, func(k *domain.APIKey) bool { return k.Operator && k.WorkspaceID == workspace && stateOf(k) == active }) {
		return err
	}
	var ps domain.Problems
	ps.Add("operator", domain.CodeValidation, "must be false in a workspace without an operator key: what operators' alert rules find of others goes to its webhooks")
	return ps.Err()
}

func (s *staff) people(ctx context.Context, workspace string) (out []*domain.User, err error) {
	all, err := s.tenants(ctx)
	if err == nil {
		err = s.ready(ctx)
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

// listUsers appends the users of one environment.
func (s *staff) listUsers(ctx context.Context, out []*domain.User, p domain.Principal) ([]*domain.User, error) {
	for page := (ask.Page{Limit: 100}); ; {
		l, err := s.desk().ListUsers(ctx, p, page)
		if err != nil {
			return nil, err
		}
		out = append(out, l.Data...)
		if page.Cursor = l.Next; l.Next == "" {
			return out, nil
		}
	}
}

func (s *staff) linkOf(ctx context.Context, userID string) (link, error) {
	all, err := s.people(ctx, "")
	if err != nil {
		return link{}, err
	}
	for _, u := range all {
		if u.ID != userID {
			continue
		}
		text, until, err := s.desk().Local().SignInLink(ctx, u)
		return link{UserID: u.ID, URL: s.base + "/sign-in?token=" + text, ExpiresAt: until}, err
	}
	return link{}, fmt.Errorf("there is no user %s", userID)
}

func (s socketKeys) createTenant(ctx context.Context, n newTenant) (made madeTenant, err error) {
	err = s.ask(ctx, http.MethodPost, "/workspaces", n, &made)
	return made, err
}

func (s socketKeys) tenants(ctx context.Context) (out []*domain.Workspace, err error) {
	err = s.ask(ctx, http.MethodGet, "/workspaces", nil, &out)
	return out, err
}

func (s socketKeys) deleteTenant(ctx context.Context, id string) error {
	return s.ask(ctx, http.MethodDelete, "/workspaces/"+url.PathEscape(id), nil, &struct{}{})
}

func (s socketKeys) createPerson(ctx context.Context, n newPerson) (u *domain.User, err error) {
	err = s.ask(ctx, http.MethodPost, "/users", n, &u)
	return u, err
}

func (s socketKeys) people(ctx context.Context, workspace string) (out []*domain.User, err error) {
	err = s.ask(ctx, http.MethodGet, "/users?workspace="+url.QueryEscape(workspace), nil, &out)
	return out, err
}

func (s socketKeys) linkOf(ctx context.Context, userID string) (l link, err error) {
	err = s.ask(ctx, http.MethodPost, "/users/"+url.PathEscape(userID)+"/link", nil, &l)
	return l, err
}

// staffCommand is a command that works on the desk.
func staffCommand(use, short string, args cobra.PositionalArgs, run func(context.Context, *cobra.Command, keyDesk, []string) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withKeys(cmd, func(ctx context.Context, d keyDesk) error { return run(ctx, cmd, d, args) })
		},
	}
	deskFlags(cmd)
	return cmd
}

func workspacesCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "workspaces", Short: "Make, list and delete workspaces, on a running service or a stopped one"}
	n, asJSON := newTenant{}, false
	create := staffCommand("create NAME", "Make a workspace and print its first API key, this once", cobra.ExactArgs(1), func(ctx context.Context, cmd *cobra.Command, d keyDesk, args []string) error {
		n.Name = args[0]
		made, err := d.createTenant(ctx, n)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), made)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", made.ID, made.Key)
		return err
	})
	create.Flags().StringVar(&n.Plan, "plan", string(domain.Starter), "starter, professional or enterprise")
	create.Flags().StringVar(&n.Country, "country", "US", "its country, ISO 3166")
	list := staffCommand("list", "List workspaces", cobra.NoArgs, func(ctx context.Context, cmd *cobra.Command, d keyDesk, _ []string) error {
		all, err := d.tenants(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), all)
		}
		w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "ID\tNAME\tPLAN\tCREATED")
		for _, x := range all {
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", x.ID, x.Name, x.Plan, x.CreatedAt.Format(time.DateOnly))
		}
		return w.Flush()
	})
	sure := ""
	remove := staffCommand("delete WORKSPACE_ID", "Delete a workspace with everything in it", cobra.ExactArgs(1), func(ctx context.Context, cmd *cobra.Command, d keyDesk, args []string) error {
		if sure != args[0] {
			return errors.New("--confirm must repeat the id: calls, recordings and users go for good")
		}
		if err := d.deleteTenant(ctx, args[0]); err != nil {
			return err
		}
		return tell(cmd, asJSON, map[string]any{"id": args[0], "deleted": true}, "%s is deleted\n", args[0])
	})
	remove.Flags().StringVar(&sure, "confirm", "", "the id once more")
	for _, c := range []*cobra.Command{create, list, remove} {
		c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	}
	cmd.AddCommand(create, list, remove)
	return cmd
}

func usersCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "users", Short: "Make and list users and the links that sign them in, on a running service or a stopped one"}
	n, asJSON, workspace := newPerson{}, false, ""
	create := staffCommand("create NAME", "Make a user", cobra.ExactArgs(1), func(ctx context.Context, cmd *cobra.Command, d keyDesk, args []string) error {
		n.Name = args[0]
		u, err := d.createPerson(ctx, n)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), u)
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), u.ID)
		return err
	})
	create.Aliases = []string{"add"}
	create.Flags().StringVar(&n.Role, "role", "viewer", "viewer, agent, manager or admin")
	create.Flags().BoolVar(&n.Operator, "operator", false, "a viewer sees all workspaces at the dashboard, an admin also stops and drains")
	create.Flags().StringVar((*string)(&n.Environment), "environment", string(domain.Live), "whose data the user sees: live or test")
	create.Flags().StringVar(&n.Workspace, "workspace", "", "id of the workspace, where there are several")
	list := staffCommand("list", "List users", cobra.NoArgs, func(ctx context.Context, cmd *cobra.Command, d keyDesk, _ []string) error {
		all, err := d.people(ctx, workspace)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), all)
		}
		w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "ID\tNAME\tROLE\tOPERATOR\tENVIRONMENT\tWORKSPACE")
		for _, u := range all {
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%t\t%s\t%s\n", u.ID, u.Name, u.Role, u.Operator, u.Environment, u.WorkspaceID)
		}
		return w.Flush()
	})
	list.Flags().StringVar(&workspace, "workspace", "", "id of one workspace")
	signIn := staffCommand("link USER_ID", "Print a link that signs a user in, once, within five minutes", cobra.ExactArgs(1), func(ctx context.Context, cmd *cobra.Command, d keyDesk, args []string) error {
		l, err := d.linkOf(ctx, args[0])
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), l)
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), l.URL)
		return err
	})
	for _, c := range []*cobra.Command{create, list, signIn} {
		c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	}
	cmd.AddCommand(create, list, signIn)
	return cmd
}
