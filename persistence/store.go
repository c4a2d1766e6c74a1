package persistence

import (
	"bytes"
	"context"
	"crypto/cipher"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

var _ commit.Store = (*Store)(nil)

var fingerprintKey = Key{Table: table("_meta", ""), ID: "master_key"}

// table is the raw table of a kind of nouns of a workspace.
func table(kind, workspace string) string { return kind + "/" + workspace }

func raw(k domain.Key) Key { return Key{Table: table(k.Kind, k.Workspace), ID: k.ID} }

// Store keeps nouns on a driver. It implements commit.Store and may be used
// concurrently. It does not close its driver.
type Store struct {
	driver Driver
	part   Part
	token  string
	codec  codec
	vault  *vault
	root   []byte // of what is derived for other purposes

	version string       // of the program
	format  atomic.Int64 // that the store is known to require
}

// Owner says who opens a store.
type Owner struct {
	Master  []byte // 32 bytes
	Token   string // of its commits
	Part    Part
	Version string // of the program, for Requirement
}

// NewStore is NewPart for the whole.
func NewStore(ctx context.Context, d Driver, master []byte, token string) (*Store, error) {
	return NewPart(ctx, d, Owner{Master: master, Token: token})
}

// NewPart checks that Master is the store's master key, that this program knows
// the store's format and that the store is divided as Part says, makes Token the
// owner of the part and returns its store. An owner before it is refused from then on with
// domain.ErrFenced. Stores of different parts may be on one driver; they do not
// disturb each other, also where the store is empty and several begin at once.
//
// Errors: ErrMasterKey, ErrFormat, ErrShards, and domain.ErrFenced where another
// process came later than this one's token was made.
func NewPart(ctx context.Context, d Driver, o Owner) (*Store, error) {
	master, p := o.Master, o.Part
	if len(master) != MasterKeySize {
		return nil, fmt.Errorf("persistence: a master key has %d bytes, not %d", MasterKeySize, len(master))
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	if parted, is := d.(Parted); is && p.Of > 0 {
		d = parted.Part(p.name())
	}
	aead, err := newAEAD(master)
	if err != nil {
		return nil, err
	}
	c, err := newCodec()
	if err != nil {
		return nil, err
	}
	s := &Store{driver: d, part: p, token: o.Token, codec: c, version: o.Version}
	s.vault = &vault{driver: d, master: aead, mine: p.mine, commit: s.commit, keys: make(map[string]cipher.AEAD), closed: make(map[string]bool)}
	if _, err = s.checkIdentity(ctx, master); err != nil {
		return nil, err
	}
	if err = s.claim(ctx); err != nil {
		return nil, fmt.Errorf("persistence: claim: %w", err)
	}
	// Whoever divides the store anew claims it first: what is read now holds for
	// as long as the claim does.
	known, err := s.checkIdentity(ctx, master)
	if err == nil && !known {
		err = s.found(ctx, master)
	}
	if err != nil {
		return nil, err
	}
	return s, s.readRoot(ctx, master)
}

// checkIdentity refuses a store that belongs to another master key, has a newer format,
// or is divided in another way. known says whether it belongs to anybody.
func (s *Store) checkIdentity(ctx context.Context, master []byte) (known bool, err error) {
	if err = s.checkFormat(ctx); err != nil {
		return false, err
	}
	if known, err = checkMaster(ctx, s.driver, master); err != nil {
		return known, fmt.Errorf("persistence: open: %w", err)
	}
	have, err := Shards(ctx, s.driver)
	if err != nil {
		return known, err
	}
	return known, s.part.fits(have)
}

func (s *Store) claim(ctx context.Context) error {
	if s.part.Of == 0 {
		return s.driver.ClaimAll(ctx, s.token)
	}
	return s.driver.Claim(ctx, s.part.name(), s.token)
}

// found writes on an empty store whose it is and into how many shards it is
// divided. Of several who do so at once one does it.
func (s *Store) found(ctx context.Context, master []byte) error {
	c := Commit{Guards: []Guard{{Key: fingerprintKey}}, Puts: []Put{{Key: fingerprintKey, Value: fingerprint(master)}}}
	switch _, _, err := s.driver.Get(ctx, shardsKey); {
	case err != nil && !errors.Is(err, domain.ErrNotFound):
		return fmt.Errorf("persistence: open: %w", err)
	case err != nil && s.part.Of > 0:
		c.Guards = append(c.Guards, Guard{Key: shardsKey})
		c.Puts = append(c.Puts, Put{Key: shardsKey, Value: shardsValue(s.part.Of)})
	}
	_, err := s.commit(ctx, c)
	if errors.Is(err, domain.ErrConflict) {
		_, err = s.checkIdentity(ctx, master)
	}
	if err != nil {
		return fmt.Errorf("persistence: open: %w", err)
	}
	return nil
}

func (s *Store) commit(ctx context.Context, c Commit) (Result, error) {
	c.Shard, c.Token = s.part.name(), s.token
	return s.driver.Commit(ctx, c)
}

// Healthy is nil while commits can be expected to succeed.
func (s *Store) Healthy() error { return s.driver.Healthy() }

// Seal encrypts a text of a noun's field under the data key of its workspace.
// It opens only for the same workspace, kind, id and field.
func (s *Store) Seal(ctx context.Context, k domain.Key, field, text string) (string, error) {
	return s.vault.seal(ctx, k, field, text)
}

// Unseal is the inverse of Seal.
func (s *Store) Unseal(ctx context.Context, k domain.Key, field, sealed string) (string, error) {
	return s.vault.unseal(ctx, k, field, sealed)
}

// Apply makes the change durable, or nothing of it. The committed events carry
// offsets and sequences, in the order of c.Events.
//
// A store of a part refuses what touches a workspace of another one with
// ErrElsewhere, before anything is sent.
func (s *Store) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	if err := s.part.allows(&c); err != nil {
		return nil, err
	}
	made, _ := s.codec.bales.Get().(*bale)
	rawCommit, events, err := s.make(ctx, &c, made)
	s.codec.done(made)
	if err != nil {
		return nil, err
	}
	if err = s.raiseFormat(ctx, highestVersion(rawCommit.Puts[:len(c.Puts)], rawCommit.Events)); err != nil {
		return nil, fmt.Errorf("persistence: commit of %q: %w", c.Workspace, err)
	}
	res, err := s.commit(ctx, rawCommit)
	if err != nil {
		return nil, fmt.Errorf("persistence: commit of %q: %w", c.Workspace, err)
	}
	for i := range events {
		events[i].Offset = res.Offset + uint64(i)
		events[i].Sequence = res.Sequences[i]
	}
	return events, nil
}

// make is a change as the driver takes it. All of its values share one piece of
// memory.
func (s *Store) make(ctx context.Context, c *commit.Change, made *bale) (Commit, []event.Event, error) {
	out := Commit{
		Log: logOf(*c), Guards: make([]Guard, len(c.Guards)), Puts: make([]Put, 0, len(c.Puts)+len(c.Deletes)),
		Events: make([]Event, len(c.Events)), Trim: c.Trim, Reserved: c.Reserved, DeleteEvents: c.DeleteEvents, ForgetSubjects: c.ForgetSubjects,
	}
	for i, g := range c.Guards {
		out.Guards[i] = Guard{Key: raw(g.Key), Version: g.Version}
	}
	for _, r := range c.Puts {
		p, err := s.put(ctx, made, r)
		if err != nil {
			return Commit{}, nil, err
		}
		out.Puts = append(out.Puts, p)
	}
	events := make([]event.Event, len(c.Events))
	for i := range c.Events {
		var err error
		if events[i], err = s.draft(made, out.Log, &c.Events[i]); err != nil {
			return Commit{}, nil, err
		}
		out.Events[i].Subject = c.Events[i].Subject
	}
	values := made.unpack()
	for i := range out.Puts {
		out.Puts[i].Value = values.next()
	}
	for i := range out.Events {
		out.Events[i].Payload = values.next()
	}
	for _, r := range c.Puts {
		if p, is := where(r.Key(), true); is {
			out.Puts = append(out.Puts, p)
		}
	}
	for _, k := range c.Deletes {
		out.Puts = append(out.Puts, Put{Key: raw(k)})
		if p, is := where(k, false); is {
			out.Puts = append(out.Puts, p)
		}
	}
	var err error
	out.Adds, err = s.adds(c.Adds)
	return out, events, err
}

func logOf(c commit.Change) string {
	if c.Workspace == "" && len(c.Events) > 0 {
		return c.Events[0].WorkspaceID
	}
	return c.Workspace
}

// put is a row whose value follows.
func (s *Store) put(ctx context.Context, made *bale, r domain.Record) (Put, error) {
	k := r.Key()
	kept := r
	if sealer, ok := r.(domain.Sealer); ok {
		var err error
		kept, err = sealer.Sealed(func(field, text string) (string, error) {
			return s.vault.seal(ctx, k, field, text)
		})
		if err != nil {
			return Put{}, fmt.Errorf("persistence: seal %s %s: %w", k.Kind, k.ID, err)
		}
	}
	var err error
	if made.b, err = s.codec.encode(made.b, kept); err != nil {
		return Put{}, fmt.Errorf("persistence: %s %s: %w", k.Kind, k.ID, err)
	}
	made.ends = append(made.ends, len(made.b))
	return Put{Key: raw(k), Lists: r.Indexes(), Sort: r.Sort()}, nil
}

// adds are tallies as the driver takes them, each row once.
func (s *Store) adds(tallies []domain.Tally) ([]Add, error) {
	var out []Add
	for _, t := range tallies {
		k := t.Key()
		if i := slices.IndexFunc(out, func(a Add) bool { return a.Key == raw(k) }); i >= 0 {
			for j, n := range t.Tally() {
				out[i].By[j] += n
			}
			continue
		}
		value, err := s.codec.encode(nil, t)
		if err != nil {
			return nil, fmt.Errorf("persistence: %s %s: %w", k.Kind, k.ID, err)
		}
		at := bytes.LastIndexByte(value, '[')
		if at < 0 {
			return nil, fmt.Errorf("%w: %s %s is no tally", ErrMalformed, k.Kind, k.ID)
		}
		out = append(out, Add{Key: raw(k), Head: value[:at+1], By: slices.Clone(t.Tally())})
	}
	return out, nil
}

// draft is an event whose payload follows.
func (s *Store) draft(made *bale, log string, d *event.Draft) (event.Event, error) {
	if d.WorkspaceID != "" && d.WorkspaceID != log {
		return event.Event{}, fmt.Errorf("%w: event %s of workspace %q in a change of %q", ErrMalformed, d.ID, d.WorkspaceID, log)
	}
	e := event.Event{
		ID: d.ID, Type: d.Type, CreatedAt: d.CreatedAt.UTC().Round(0), WorkspaceID: log, SvcID: d.SvcID,
		Subject: d.Subject, Environment: d.Environment, About: d.About,
	}
	var err error
	if e.Data, err = domain.EncodeJSON(d.Data); err != nil {
		return event.Event{}, fmt.Errorf("persistence: event %s: %w", d.ID, err)
	}
	made.b = s.codec.encodeEvent(made.b, &e)
	made.ends = append(made.ends, len(made.b))
	return e, nil
}

// Get reads into's row by its Key and returns its version, or
// domain.ErrNotFound, which leaves into alone.
func (s *Store) Get(ctx context.Context, into domain.Record) (uint64, error) {
	k := into.Key()
	value, version, err := s.driver.Get(ctx, raw(k))
	if err != nil {
		return 0, fmt.Errorf("persistence: %s %s: %w", k.Kind, k.ID, err)
	}
	return version, s.load(ctx, k, value, into)
}

// load replaces what into holds by the value that is stored under a key.
func (s *Store) load(ctx context.Context, k domain.Key, value []byte, into domain.Record) error {
	if v := reflect.ValueOf(into); v.Kind() == reflect.Pointer && !v.IsNil() {
		v.Elem().SetZero()
	}
	if err := s.codec.decode(k, value, into); err != nil {
		return fmt.Errorf("persistence: %T: %w: %w", into, domain.ErrDamaged, err)
	}
	sealer, ok := into.(domain.Sealer)
	if !ok {
		return nil
	}
	k = into.Key()
	err := sealer.Unseal(func(field, text string) (string, error) {
		return s.vault.unseal(ctx, k, field, text)
	})
	if err != nil {
		return fmt.Errorf("persistence: unseal: %w", err)
	}
	return nil
}
