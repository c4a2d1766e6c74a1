package actors

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// usersMost bounds the users of a workspace: they are kept in memory.
const usersMost = 10_000

// seenEvery is how often the store learns that a session is in use.
const seenEvery = 5 * time.Minute

// seenWithin bounds how long that takes.
const seenWithin = 10 * time.Second

// CreateUser keeps a new user.
func (d *Desk) CreateUser(ctx context.Context, p domain.Principal, u *domain.User) (*domain.User, error) {
	return d.createUser(ctx, p, u)
}

func (d *Desk) createUser(ctx context.Context, p domain.Principal, u *domain.User, more ...func(*commit.Change)) (*domain.User, error) {
	if made, err := record.CreatedBySameRequest[domain.User](ctx, d.store, p, domain.PrefixUser); made != nil || err != nil {
		return made, err
	}
	defer d.guests.changing.lock(p.WorkspaceID)()
	restrictions := d.restrictionsOf(p)
	var err error
	if u.AllowedIPs, err = restrictions.limitAllowedIPs(u.AllowedIPs); err != nil {
		return nil, err
	}
	if u.AllowedIPs == nil {
		u.AllowedIPs = []string{}
	}
	if d.guests.countUsers(p.WorkspaceID) >= usersMost {
		return nil, domain.Errorf(domain.CodeInvalidState, "the workspace has %d users, which is the most; delete some first", usersMost)
	}
	record.SetMeta(&u.Meta, "user", p, record.NewID(ctx, domain.PrefixUser), record.Now())
	u.CreatedBy = p.Creator()
	u.Promote(false, u.CreatedAt)
	if err = record.Create(ctx, d.store, u, more...); err != nil {
		return nil, err
	}
	d.guests.welcome(u)
	return u, nil
}

// User reads one user.
func (d *Desk) User(ctx context.Context, p domain.Principal, id string) (*domain.User, error) {
	u, _, err := record.Get[domain.User](ctx, d.store, p, domain.PrefixUser, id)
	return u, err
}

// ListUsers reads a page.
func (d *Desk) ListUsers(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.User], error) {
	return record.List[domain.User](ctx, d.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixUser, q, nil)
}

// UpdateUser changes a user. What a new role forbids is refused from the
// return on, also to programs that the user has let in.
func (d *Desk) UpdateUser(ctx context.Context, p domain.Principal, id string, change func(*domain.User) error) (*domain.User, error) {
	defer d.guests.changing.lock(p.WorkspaceID)() // commit and memory change in the same order
	u, err := record.Update(ctx, d.store, p, domain.PrefixUser, id, func(u *domain.User) error {
		was, from := u.Operator, u.AllowedIPs
		err := change(u)
		u.Promote(was, record.Now())
		if err == nil && (u.AllowedIPs == nil || !slices.Equal(from, u.AllowedIPs)) {
			restrictions := d.restrictionsOf(p)
			u.AllowedIPs, err = restrictions.limitAllowedIPs(u.AllowedIPs)
		}
		if u.AllowedIPs == nil {
			u.AllowedIPs = []string{}
		}
		return err
	})
	if err == nil {
		d.guests.welcome(u)
	}
	return u, err
}

// led is a user of whom somebody disposes who may, and what a commit guards so
// that nobody has made the user more meanwhile.
func (d *Desk) led(ctx context.Context, p domain.Principal, id string, may func(*domain.User) error) (*domain.User, commit.Guard, error) {
	u, version, err := record.Get[domain.User](ctx, d.store, p, domain.PrefixUser, id)
	if err != nil {
		return nil, commit.Guard{}, err
	}
	return u, commit.Guard{Key: u.Key(), Version: version}, may(u)
}

// DeleteUser removes a user whom somebody may delete; sessions, and what programs
// were given, end with its return.
func (d *Desk) DeleteUser(ctx context.Context, p domain.Principal, id string, may func(*domain.User) error) error {
	defer d.guests.changing.lock(p.WorkspaceID)()
	u, _, err := d.led(ctx, p, id, may) // nobody changes it while this goes on
	if err != nil {
		return err
	}
	if err = record.Delete[domain.User](ctx, d.store, p, domain.PrefixUser, id); err == nil {
		d.guests.bid(u.ID)
	}
	return err
}

// SignInLink makes what a link needs to sign the user in, once, for whoever may.
func (d *Desk) SignInLink(ctx context.Context, p domain.Principal, userID string, may func(*domain.User) error) (text string, until time.Time, err error) {
	return d.signInLink(ctx, p, userID, may)
}

func (d *Desk) signInLink(
	ctx context.Context, p domain.Principal, userID string, may func(*domain.User) error, more ...func(*commit.Change),
) (text string, until time.Time, err error) {
	for range record.MaxTries {
		u, guard, err := d.led(ctx, p, userID, may)
		if err == nil {
			err = d.checkSignInLink(p, u)
		}
		if err != nil {
			return "", time.Time{}, err
		}
		secret, now := secretText(), record.Now()
		s := &domain.SignIn{UserID: u.ID, Until: now.Add(domain.SignInLife), OperatorSince: u.OperatorSince}
		record.SetMeta(&s.Meta, "sign_in", p, access.HashKey(d.guests.pepper, "sign-in "+secret), now)
		s.CreatedBy = p.Creator()
		err = record.Create(commit.Boarding(ctx), d.store, s, append(more, func(c *commit.Change) { c.Guards = append(c.Guards, guard) })...)
		if !errors.Is(err, domain.ErrConflict) {
			return access.Placed(p.WorkspaceID, secret), s.Until, err
		}
	}
	return "", time.Time{}, record.Busy()
}

// checkSignInLink refuses a sign-in link for a user whose allowed_ips are wider
// than those of the credential that creates the link. Errors:
// insufficient_permissions.
func (d *Desk) checkSignInLink(p domain.Principal, u *domain.User) error {
	restrictions := d.restrictionsOf(p)
	for _, outer := range restrictions.networks {
		if !access.Within(u.AllowedIPs, outer) {
			return domain.Errorf(domain.CodeInsufficientPermissions,
				"The user may sign in from addresses outside allowed_ips of the key (%s). Use a key without allowed_ips, or narrow allowed_ips of the user.", strings.Join(outer, ", "))
		}
	}
	return nil
}

// SignIn uses a link up and answers the cookie of a new session; the audit log
// tells of it by the same commit.
func (d *Desk) SignIn(ctx context.Context, text string, from netip.Addr, agent string) (cookie string, u *domain.User, err error) {
	workspace, secret, ok := access.PlaceOf(text)
	bad := domain.Errorf(domain.CodeInvalidLink, "The link was used before, or is none.")
	if !ok {
		return "", nil, bad
	}
	link := &domain.SignIn{Meta: domain.Meta{ID: access.HashKey(d.guests.pepper, "sign-in "+secret), WorkspaceID: workspace}}
	version, err := d.store.Get(ctx, link)
	if errors.Is(err, domain.ErrNotFound) {
		return "", nil, bad
	}
	if err != nil {
		return "", nil, record.StoreError(err)
	}
	ended, err := d.creatorKeyInvalid(link.CreatedBy)
	if err != nil {
		return "", nil, err
	}
	now := record.Now()
	u = d.guests.user(link.UserID)
	switch {
	case ended:
		return "", nil, domain.Errorf(domain.CodeExpiredLink, "The API key that created the link has ended. Ask for another link.")
	case u == nil || !link.Opens(u, now):
		return "", nil, domain.Errorf(domain.CodeExpiredLink, "The link is too old. Ask for another.")
	case !access.From(u.AllowedIPs, from):
		return "", u, domain.Errorf(domain.CodeIPNotAllowed, "You are not allowed to sign in from this address.")
	}
	secret = secretText()
	s := &domain.Session{UserID: u.ID, IP: from.String(), UserAgent: agent, SeenAt: now, OperatorSince: link.OperatorSince}
	record.SetMeta(&s.Meta, "session", domain.Principal{WorkspaceID: workspace, Environment: u.Environment}, mailbox.NewID(domain.PrefixSession), now)
	s.Hash, s.CreatedBy = d.sessionHash(s.ID, secret), link.CreatedBy
	ctx = d.Ride(ctx, domain.Principal{WorkspaceID: workspace, Environment: u.Environment, UserID: u.ID}, ask.Act{
		Type: "auth", Action: "user.signed_in", IP: from, UserAgent: agent, Resource: domain.Resource{Type: "user", ID: u.ID},
	})
	_, err = d.store.Apply(commit.Boarding(ctx), commit.Change{
		Workspace: workspace, Guards: []commit.Guard{{Key: link.Key(), Version: version}, commit.Absent(s.Key())},
		Deletes: []domain.Key{link.Key()}, Puts: []domain.Record{s},
	})
	if errors.Is(err, domain.ErrConflict) {
		return "", nil, bad
	}
	return access.Placed(workspace, strings.TrimPrefix(s.ID, string(domain.PrefixSession)+"_")+"."+secret), u, record.StoreError(err)
}

func (d *Desk) sessionHash(id, secret string) string {
	return access.HashKey(d.guests.pepper, "session "+id+" "+secret)
}

// Session is who is signed in with a cookie. watching: it is only looked on, as
// a page does that keeps itself fresh, which is no use of the session. Errors:
// authentication_required, ip_not_allowed.
func (d *Desk) Session(ctx context.Context, cookie string, from netip.Addr, watching bool) (*domain.User, *domain.Session, error) {
	nobody := domain.Errorf(domain.CodeAuthenticationRequired, "You are not signed in.")
	workspace, rest, ok := access.PlaceOf(cookie)
	id, secret, parted := strings.Cut(rest, ".")
	id, err := domain.ParseID(domain.PrefixSession, string(domain.PrefixSession)+"_"+id)
	if !ok || !parted || err != nil {
		return nil, nil, nobody
	}
	s := &domain.Session{Meta: domain.Meta{ID: id, WorkspaceID: workspace}}
	version, err := d.store.Get(ctx, s)
	if err != nil && !errors.Is(err, domain.ErrNotFound) {
		return nil, nil, record.StoreError(err)
	}
	ended, unknown := d.creatorKeyInvalid(s.CreatedBy)
	if unknown != nil {
		return nil, nil, unknown
	}
	now := record.Now()
	u := d.guests.user(s.UserID)
	switch {
	case err != nil || ended || !access.SameHash(s.Hash, d.sessionHash(id, secret)) || !s.Holds(now) || u == nil || u.WorkspaceID != workspace:
		return nil, nil, nobody
	case !access.From(u.AllowedIPs, from):
		return u, s, domain.Errorf(domain.CodeIPNotAllowed, "You are not allowed to be signed in from this address.")
	}
	if !watching && now.Sub(s.SeenAt) >= seenEvery {
		s.SeenAt, s.IP, s.UpdatedAt = now, from.String(), now
		d.seen(*s, version)
	}
	return u, s, nil
}

// seen lets the store learn that a session is in use, beside the request: who
// stops all dialling does not wait for a disk. Where that fails the next request
// tells it, unless another has, or the session was ended.
func (d *Desk) seen(s domain.Session, version uint64) {
	if _, told := d.guests.telling.LoadOrStore(s.ID, struct{}{}); told {
		return
	}
	go func() {
		defer d.guests.telling.Delete(s.ID)
		ctx, cancel := context.WithTimeout(context.Background(), seenWithin)
		defer cancel()
		_, _ = d.store.Apply(ctx, commit.Change{
			Workspace: s.WorkspaceID, Guards: []commit.Guard{{Key: s.Key(), Version: version}}, Puts: []domain.Record{&s},
		})
	}()
}

// ListSessions reads a page of a user's sessions.
func (d *Desk) ListSessions(ctx context.Context, p domain.Principal, userID string, q ask.Page) (ask.List[*domain.Session], error) {
	u, _, err := record.Get[domain.User](ctx, d.store, p, domain.PrefixUser, userID)
	if err != nil {
		return ask.List[*domain.Session]{}, err
	}
	now := time.Now()
	return record.List(ctx, d.store, p.WorkspaceID, "user="+u.ID, domain.PrefixSession, q, func(s *domain.Session) bool { return s.Holds(now) })
}

// EndSession signs a user out in one browser, for whoever may.
func (d *Desk) EndSession(ctx context.Context, p domain.Principal, userID, id string, may func(*domain.User) error) error {
	return record.Delete(commit.Boarding(ctx), d.store, p, domain.PrefixSession, id, func(c *commit.Change, s *domain.Session) error {
		u, guard, err := d.led(ctx, p, userID, may)
		if err != nil {
			return err
		}
		if s.UserID != u.ID {
			return record.NotFound("session")
		}
		c.Guards = append(c.Guards, guard)
		return nil
	})
}
