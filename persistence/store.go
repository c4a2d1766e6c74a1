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

// table returns the driver's table for the records of a kind in a workspace.
func table(kind, workspace string) string { return kind + "/" + workspace }

func rowKey(k domain.Key) Key { return Key{Table: table(k.Kind, k.Workspace), ID: k.ID} }

// Store stores records on a driver. It implements commit.Store and may be used concurrently. It does not close its
// driver.
type Store struct {
	driver  Driver
	shard   Shard
	token   string
	codec   codec
	vault   *vault
	rootKey []byte // the key from which keys for other purposes are derived

	version string       // of the program
	format  atomic.Int64 // the format that the store is known to require
}

// Owner describes the process that opens a store.
type Owner struct {
	Master  []byte // 32 bytes
	Token   string // token that the commits of this process carry
	Shard   Shard
	Version string // of the program, for Requirement
}

// NewStore opens the whole store and makes token its owner. See OpenShard for the checks and errors.
func NewStore(ctx context.Context, d Driver, master []byte, token string) (*Store, error) {
	return OpenShard(ctx, d, Owner{Master: master, Token: token})
}

// OpenShard opens one shard of a store. It checks the master key, the store format and the number of shards, and
// makes Token the owner of the shard. Commits of the previous owner are refused with domain.ErrFenced from then on.
//
// Stores of different shards may share one driver. They may open an empty store concurrently.
//
// OpenShard returns ErrMasterKey, ErrFormat or ErrShardCount if a check fails, and domain.ErrFenced if a process with
// a newer token owns the shard.
func OpenShard(ctx context.Context, d Driver, o Owner) (*Store, error) {
	master, p := o.Master, o.Shard
	if len(master) != MasterKeySize {
		return nil, fmt.Errorf("persistence: a master key has %d bytes, not %d", MasterKeySize, len(master))
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	if parted, is := d.(ShardedDriver); is && p.Count > 0 {
		d = parted.ShardDriver(p.name())
	}
	aead, err := newAEAD(master)
	if err != nil {
		return nil, err
	}
	c, err := newCodec()
	if err != nil {
		return nil, err
	}
	s := &Store{driver: d, shard: p, token: o.Token, codec: c, version: o.Version}
	s.vault = &vault{driver: d, master: aead, checkWorkspace: p.checkWorkspace, commit: s.commit, keys: make(map[string]cipher.AEAD), closed: make(map[string]bool)}
	if _, err = s.checkIdentity(ctx, master); err != nil {
		return nil, err
	}
	if err = s.claim(ctx); err != nil {
		return nil, fmt.Errorf("persistence: claim: %w", err)
	}
	// The number of shards is checked again after the claim. SetShardCount claims the whole store before it changes the
	// number, so this number is valid as long as the claim.
	known, err := s.checkIdentity(ctx, master)
	if err == nil && !known {
		err = s.initialize(ctx, master)
	}
	if err != nil {
		return nil, err
	}
	return s, s.readRoot(ctx, master)
}

// checkIdentity returns an error if the store has another master key, a newer format or another number of shards.
// known is false for an empty store.
func (s *Store) checkIdentity(ctx context.Context, master []byte) (known bool, err error) {
	if err = s.checkFormat(ctx); err != nil {
		return false, err
	}
	if known, err = checkMaster(ctx, s.driver, master); err != nil {
		return known, fmt.Errorf("persistence: open: %w", err)
	}
	have, err := ShardCount(ctx, s.driver)
	if err != nil {
		return known, err
	}
	return known, s.shard.checkShardCount(have)
}

func (s *Store) claim(ctx context.Context) error {
	if s.shard.Count == 0 {
		return s.driver.ClaimAll(ctx, s.token)
	}
	return s.driver.Claim(ctx, s.shard.name(), s.token)
}

// initialize writes the master key's fingerprint and the number of shards to an empty store. If another process has
// done so first, initialize checks what that process has written.
func (s *Store) initialize(ctx context.Context, master []byte) error {
	c := Commit{Guards: []Guard{{Key: fingerprintKey}}, Puts: []Put{{Key: fingerprintKey, Value: fingerprint(master)}}}
	switch _, _, err := s.driver.Get(ctx, shardsKey); {
	case err != nil && !errors.Is(err, domain.ErrNotFound):
		return fmt.Errorf("persistence: open: %w", err)
	case err != nil && s.shard.Count > 0:
		c.Guards = append(c.Guards, Guard{Key: shardsKey})
		c.Puts = append(c.Puts, Put{Key: shardsKey, Value: shardsValue(s.shard.Count)})
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
	c.Shard, c.Token = s.shard.name(), s.token
	return s.driver.Commit(ctx, c)
}

// Healthy returns nil while commits can be expected to succeed.
func (s *Store) Healthy() error { return s.driver.Healthy() }

// Seal encrypts the text of a record's field under the data key of its workspace. The text can be decrypted only for
// the same workspace, kind, id and field.
func (s *Store) Seal(ctx context.Context, k domain.Key, field, text string) (string, error) {
	return s.vault.seal(ctx, k, field, text)
}

// Unseal decrypts a text that Seal encrypted.
func (s *Store) Unseal(ctx context.Context, k domain.Key, field, sealed string) (string, error) {
	return s.vault.unseal(ctx, k, field, sealed)
}

// Apply commits a change as a whole, or nothing of it after an error. It returns the committed events with offsets and
// sequences, in the order of c.Events.
//
// The Store of one shard refuses a change to a workspace of another shard with ErrOtherShard, before it sends anything
// to the driver.
func (s *Store) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	if err := s.shard.checkChange(&c); err != nil {
		return nil, err
	}
	buffer, _ := s.codec.buffers.Get().(*valueBuffer)
	rawCommit, events, err := s.buildCommit(ctx, &c, buffer)
	s.codec.releaseBuffer(buffer)
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

// buildCommit converts a change to a commit of the driver. The values of the commit share one buffer.
func (s *Store) buildCommit(ctx context.Context, c *commit.Change, buffer *valueBuffer) (Commit, []event.Event, error) {
	out := Commit{
		Log: logName(*c), Guards: make([]Guard, len(c.Guards)), Puts: make([]Put, 0, len(c.Puts)+len(c.Deletes)),
		Events: make([]Event, len(c.Events)), TrimUpTo: c.DeleteEventsUpTo, Reserved: c.UsesReservedSpace, DeleteEvents: c.DeleteEvents, DeleteSubjects: c.DeleteSubjectCounts,
	}
	for i, g := range c.Guards {
		out.Guards[i] = Guard{Key: rowKey(g.Key), Version: g.Version}
	}
	for _, r := range c.Puts {
		p, err := s.encodeRow(ctx, buffer, r)
		if err != nil {
			return Commit{}, nil, err
		}
		out.Puts = append(out.Puts, p)
	}
	events := make([]event.Event, len(c.Events))
	for i := range c.Events {
		var err error
		if events[i], err = s.encodeDraft(buffer, out.Log, &c.Events[i]); err != nil {
			return Commit{}, nil, err
		}
		out.Events[i].Subject = c.Events[i].Subject
	}
	values := buffer.split()
	for i := range out.Puts {
		out.Puts[i].Value = values.next()
	}
	for i := range out.Events {
		out.Events[i].Payload = values.next()
	}
	for _, r := range c.Puts {
		if p, is := workspaceIndexRow(r.Key(), true); is {
			out.Puts = append(out.Puts, p)
		}
	}
	for _, k := range c.Deletes {
		out.Puts = append(out.Puts, Put{Key: rowKey(k)})
		if p, is := workspaceIndexRow(k, false); is {
			out.Puts = append(out.Puts, p)
		}
	}
	var err error
	out.CounterAdds, err = s.buildCounterAdds(c.Adds)
	return out, events, err
}

func logName(c commit.Change) string {
	if c.Workspace == "" && len(c.Events) > 0 {
		return c.Events[0].WorkspaceID
	}
	return c.Workspace
}

// encodeRow appends the encoded value of a record to the buffer. It returns the record's Put, in which the value is not
// set yet.
func (s *Store) encodeRow(ctx context.Context, buffer *valueBuffer, r domain.Record) (Put, error) {
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
	if buffer.bytes, err = s.codec.encode(buffer.bytes, kept); err != nil {
		return Put{}, fmt.Errorf("persistence: %s %s: %w", k.Kind, k.ID, err)
	}
	buffer.ends = append(buffer.ends, len(buffer.bytes))
	return Put{Key: rowKey(k), Lists: r.Indexes(), Sort: r.Sort()}, nil
}

// buildCounterAdds converts counter records to one CounterAdd per database row.
func (s *Store) buildCounterAdds(tallies []domain.CounterRecord) ([]CounterAdd, error) {
	var out []CounterAdd
	for _, t := range tallies {
		k := t.Key()
		if i := slices.IndexFunc(out, func(a CounterAdd) bool { return a.Key == rowKey(k) }); i >= 0 {
			for j, n := range t.Counters() {
				out[i].Deltas[j] += n
			}
			continue
		}
		value, err := s.codec.encode(nil, t)
		if err != nil {
			return nil, fmt.Errorf("persistence: %s %s: %w", k.Kind, k.ID, err)
		}
		at := bytes.LastIndexByte(value, '[')
		if at < 0 {
			return nil, fmt.Errorf("%w: %s %s is not a counter row", ErrMalformed, k.Kind, k.ID)
		}
		out = append(out, CounterAdd{Key: rowKey(k), Prefix: value[:at+1], Deltas: slices.Clone(t.Counters())})
	}
	return out, nil
}

// encodeDraft appends the payload of an event to the buffer and returns the event.
func (s *Store) encodeDraft(buffer *valueBuffer, log string, d *event.Draft) (event.Event, error) {
	if d.WorkspaceID != "" && d.WorkspaceID != log {
		return event.Event{}, fmt.Errorf("%w: event %s of workspace %q in a change of %q", ErrMalformed, d.ID, d.WorkspaceID, log)
	}
	e := event.Event{
		ID: d.ID, Type: d.Type, CreatedAt: d.CreatedAt.UTC().Round(0), WorkspaceID: log, SvcID: d.SvcID,
		Subject: d.Subject, Environment: d.Environment, Attributes: d.Attributes,
	}
	var err error
	if e.Data, err = domain.EncodeJSON(d.Data); err != nil {
		return event.Event{}, fmt.Errorf("persistence: event %s: %w", d.ID, err)
	}
	buffer.bytes = s.codec.encodeEvent(buffer.bytes, &e)
	buffer.ends = append(buffer.ends, len(buffer.bytes))
	return e, nil
}

// Get reads the database row of the record into, found by its Key, and returns the version of the row. If there is no
// such row, it returns domain.ErrNotFound and leaves into unchanged.
func (s *Store) Get(ctx context.Context, into domain.Record) (uint64, error) {
	k := into.Key()
	value, version, err := s.driver.Get(ctx, rowKey(k))
	if err != nil {
		return 0, fmt.Errorf("persistence: %s %s: %w", k.Kind, k.ID, err)
	}
	return version, s.decodeRow(ctx, k, value, into)
}

// decodeRow sets the record into to a stored value and decrypts its secret fields.
func (s *Store) decodeRow(ctx context.Context, k domain.Key, value []byte, into domain.Record) error {
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
