package dnc

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/service/record"
)

// numberImports are the imports to do-not-call lists that a node is receiving.
type numberImports struct {
	mu      sync.Mutex
	lists   map[string]string // the workspace, by list
	numbers int               // that they have room for
}

// begin locks a list for an import. Error: invalid_state or unavailable.
func (i *numberImports) begin(l *domain.DNCList) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	own := 0
	for _, workspaceID := range i.lists {
		if workspaceID == l.WorkspaceID {
			own++
		}
	}
	if own >= maxImports {
		return domain.Errorf(domain.CodeUnavailable, "%d imports of numbers are running in this workspace; wait for one to end", own).With("retry_after", 5)
	}
	return i.take(l)
}

// lock keeps imports away from a list. Error: invalid_state.
func (i *numberImports) lock(l *domain.DNCList) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.take(l)
}

func (i *numberImports) take(l *domain.DNCList) error {
	if _, busy := i.lists[l.ID]; busy {
		return errImporting()
	}
	if i.lists == nil {
		i.lists = make(map[string]string)
	}
	i.lists[l.ID] = l.WorkspaceID
	return nil
}

// end frees the list, and the room that its import had.
func (i *numberImports) end(l *domain.DNCList, room int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.lists, l.ID)
	i.numbers -= room
}

// grow takes room for more numbers. Error: unavailable.
func (i *numberImports) grow(by int) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.numbers+by > maxImporting {
		return domain.Errorf(domain.CodeUnavailable, "too many numbers are being imported at once; nothing was added, send the import again later").With("retry_after", 60)
	}
	i.numbers += by
	return nil
}

func errImporting() error {
	return domain.Errorf(domain.CodeInvalidState, "an import to this list is running")
}

// ImportDNC reads numbers to their end and then adds them to a list: rows that
// end with an error add none. Its memory is 8 bytes per number, at most
// maxListed and an importStep of them.
func (s *Service) ImportDNC(ctx context.Context, p domain.Principal, id string, rows iter.Seq2[domain.RawNumber, error]) (DNCImport, error) {
	none := DNCImport{}
	l, _, err := record.Get[domain.DNCList](ctx, s.store, p, domain.PrefixDNC, id)
	if err != nil {
		return none, err
	}
	if err = s.imports.begin(l); err != nil {
		return none, err
	}
	in := numberImport{sum: DNCImport{ListID: l.ID, Errors: []domain.ContactError{}}, country: s.Country(p), running: &s.imports}
	defer func() { s.imports.end(l, cap(in.numbers)) }()
	for row, err := range rows {
		if err == nil {
			err = in.add(row)
		}
		if err != nil {
			return none, err
		}
	}
	numbers := in.unique()
	if err = s.checkListCapacity(ctx, p.WorkspaceID, l.ID, numbers); err != nil {
		return none, err
	}
	origin := dnc.Origin{Source: domain.DNCImport, At: record.Now()}
	for some := range slices.Chunk(numbers, importStep) {
		added, err := s.register.AddNumbers(ctx, p.WorkspaceID, l.ID, some, origin)
		if err != nil {
			return none, commit.StoreError(err)
		}
		in.sum.Added += added
	}
	in.sum.Duplicates = in.sum.Received - in.sum.Invalid - in.sum.Added
	return in.sum, nil
}

// checkListCapacity refuses numbers that would make a list larger than maxListed.
// Errors: validation_error.
func (s *Service) checkListCapacity(ctx context.Context, workspaceID, listID string, numbers []uint64) error {
	have, err := s.register.CountEntries(ctx, workspaceID, listID)
	if err != nil {
		return commit.StoreError(err)
	}
	if have+len(numbers) <= maxListed {
		return nil
	}
	added, err := s.register.CountNewNumbers(ctx, workspaceID, listID, numbers)
	if err == nil && have+added > maxListed {
		return errListFull()
	}
	return commit.StoreError(err)
}

func errListFull() error {
	return domain.Errorf(domain.CodeValidation, "a list has at most %d numbers; nothing was added", maxListed)
}

// numberImport gathers the numbers of an import.
type numberImport struct {
	sum     DNCImport
	country string
	numbers []uint64
	running *numberImports // which counts the capacity of numbers
}

func (in *numberImport) add(row domain.RawNumber) error {
	in.sum.Received++
	code, text := domain.Code("invalid_row"), row.Problem
	if text == "" {
		n, err := dnc.ListNumber(row.Phone, cmp.Or(row.Country, in.country))
		if err == nil {
			return in.keep(n)
		}
		code, text = "invalid_phone", "phone is "+err.Error()
	}
	in.sum.Invalid++
	if len(in.sum.Errors) < domain.MaxContactErrors {
		in.sum.Errors = append(in.sum.Errors, domain.ContactError{Line: row.Line, Phone: row.Phone, Code: code, Message: text})
	}
	return nil
}

// keep gathers a number. Where there is no room left, duplicates make room
// first; the capacity then grows by at least one importStep in large imports,
// so that few rows cause a sort.
func (in *numberImport) keep(n uint64) error {
	if len(in.numbers) == cap(in.numbers) {
		in.numbers = in.unique()
		if len(in.numbers) > maxListed {
			return errListFull()
		}
		room := min(max(len(in.numbers), 1024), maxListed+importStep-len(in.numbers))
		more := len(in.numbers) + room - cap(in.numbers)
		if more <= 0 {
			return in.keep(n)
		}
		if err := in.running.grow(more); err != nil {
			return err
		}
		in.numbers = append(make([]uint64, 0, len(in.numbers)+room), in.numbers...)
	}
	in.numbers = append(in.numbers, n)
	return nil
}

// unique are the numbers so far, each once.
func (in *numberImport) unique() []uint64 {
	slices.Sort(in.numbers)
	return slices.Compact(in.numbers)
}
