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

// numberImports tracks the running imports to do-not-call lists on this node.
type numberImports struct {
	mu      sync.Mutex
	lists   map[string]string // workspace id by list id
	numbers int               // capacity of all running imports in numbers
}

// beginImport registers an import to a list and locks the list. It returns invalid_state if the list is locked, and
// unavailable if too many imports run in the workspace.
func (i *numberImports) beginImport(l *domain.DNCList) error {
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
	return i.register(l)
}

// lock prevents imports to a list. It returns invalid_state if an import to the list is running.
func (i *numberImports) lock(l *domain.DNCList) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.register(l)
}

func (i *numberImports) register(l *domain.DNCList) error {
	if _, busy := i.lists[l.ID]; busy {
		return importRunningError()
	}
	if i.lists == nil {
		i.lists = make(map[string]string)
	}
	i.lists[l.ID] = l.WorkspaceID
	return nil
}

// end unlocks a list and releases the capacity for room numbers that its import has reserved.
func (i *numberImports) end(l *domain.DNCList, room int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.lists, l.ID)
	i.numbers -= room
}

// reserve reserves memory capacity for more phone numbers. It returns unavailable if all imports together would exceed
// maxImporting numbers.
func (i *numberImports) reserve(by int) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.numbers+by > maxImporting {
		return domain.Errorf(domain.CodeUnavailable, "too many numbers are being imported at the same time; no number was added, try again later").With("retry_after", 60)
	}
	i.numbers += by
	return nil
}

func importRunningError() error {
	return domain.Errorf(domain.CodeInvalidState, "an import to this list is running")
}

// ImportDNC reads all rows and then adds their numbers to a list. If reading fails, it adds no number. The import needs
// 8 bytes of memory per number and holds at most maxListed + importStep numbers.
func (s *Service) ImportDNC(ctx context.Context, p domain.Principal, id string, rows iter.Seq2[domain.RawNumber, error]) (DNCImport, error) {
	empty := DNCImport{}
	l, _, err := record.Get[domain.DNCList](ctx, s.store, p, domain.PrefixDNC, id)
	if err != nil {
		return empty, err
	}
	if err = s.imports.beginImport(l); err != nil {
		return empty, err
	}
	in := numberImport{sum: DNCImport{ListID: l.ID, Errors: []domain.ContactError{}}, country: s.DefaultCountry(p), running: &s.imports}
	defer func() { s.imports.end(l, cap(in.numbers)) }()
	for row, err := range rows {
		if err == nil {
			err = in.add(row)
		}
		if err != nil {
			return empty, err
		}
	}
	numbers := in.unique()
	if err = s.checkListCapacity(ctx, p.WorkspaceID, l.ID, numbers); err != nil {
		return empty, err
	}
	origin := dnc.Origin{Source: domain.DNCImport, At: record.Now()}
	for chunk := range slices.Chunk(numbers, importStep) {
		added, err := s.register.AddNumbers(ctx, p.WorkspaceID, l.ID, chunk, origin)
		if err != nil {
			return empty, commit.StoreError(err)
		}
		in.sum.Added += added
	}
	in.sum.Duplicates = in.sum.Received - in.sum.Invalid - in.sum.Added
	return in.sum, nil
}

// checkListCapacity returns a validation error if the numbers would make a list larger than maxListed.
func (s *Service) checkListCapacity(ctx context.Context, workspaceID, listID string, numbers []uint64) error {
	entries, err := s.register.CountEntries(ctx, workspaceID, listID)
	if err != nil {
		return commit.StoreError(err)
	}
	if entries+len(numbers) <= maxListed {
		return nil
	}
	added, err := s.register.CountNewNumbers(ctx, workspaceID, listID, numbers)
	if err == nil && entries+added > maxListed {
		return listFullError()
	}
	return commit.StoreError(err)
}

func listFullError() error {
	return domain.Errorf(domain.CodeValidation, "a list has at most %d numbers; no number was added", maxListed)
}

// numberImport collects the numbers of one import.
type numberImport struct {
	sum     DNCImport
	country string
	numbers []uint64
	running *numberImports // counts the reserved capacity
}

func (in *numberImport) add(row domain.RawNumber) error {
	in.sum.Received++
	code, text := domain.Code("invalid_row"), row.Problem
	if text == "" {
		n, err := dnc.ListNumber(row.Phone, cmp.Or(row.Country, in.country))
		if err == nil {
			return in.collect(n)
		}
		code, text = "invalid_phone", "phone is "+err.Error()
	}
	in.sum.Invalid++
	if len(in.sum.Errors) < domain.MaxContactErrors {
		in.sum.Errors = append(in.sum.Errors, domain.ContactError{Line: row.Line, Phone: row.Phone, Code: code, Message: text})
	}
	return nil
}

// collect adds a number to the import. If the reserved capacity is used up, collect removes duplicates and reserves
// more. Large imports grow by at least importStep at a time, so that duplicates are rarely removed.
func (in *numberImport) collect(n uint64) error {
	if len(in.numbers) == cap(in.numbers) {
		in.numbers = in.unique()
		if len(in.numbers) > maxListed {
			return listFullError()
		}
		room := min(max(len(in.numbers), 1024), maxListed+importStep-len(in.numbers))
		more := len(in.numbers) + room - cap(in.numbers)
		if more <= 0 {
			return in.collect(n)
		}
		if err := in.running.reserve(more); err != nil {
			return err
		}
		in.numbers = append(make([]uint64, 0, len(in.numbers)+room), in.numbers...)
	}
	in.numbers = append(in.numbers, n)
	return nil
}

// unique sorts the collected numbers and returns them without duplicates.
func (in *numberImport) unique() []uint64 {
	slices.Sort(in.numbers)
	return slices.Compact(in.numbers)
}
