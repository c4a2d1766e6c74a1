package lend

import (
	"container/list"
	"fmt"

	"github.com/callboard/callboard/media"
)

// clipKey says which clip it is: clips are never changed, and one is the same where it stands in the same place.
type clipKey struct {
	at *byte
	n  int
}

// shelf is what the borrower knows of the clips that the lender has: the ones used last, up to clipsMost bytes. As long as it
// is there a clip's memory belongs to nobody else.
type shelf struct {
	known map[clipKey]*list.Element
	order *list.List // of *shelved, the latest used in front
	size  int
	last  uint32
}

type shelved struct {
	number uint32
	clip   media.Clip
}

func newShelf() *shelf { return &shelf{known: make(map[clipKey]*list.Element), order: list.New()} }

// take is the number of a clip; fresh: the lender has to be sent it, after it has forgotten those whose numbers are named. The
// clip is cut where it is longer than all there is room for. Zero is the empty one.
func (s *shelf) take(clip media.Clip) (number uint32, sent media.Clip, forget []uint32, fresh bool) {
	if len(clip) == 0 {
		return 0, nil, nil, false
	}
	clip = clip[:min(len(clip), clipsMost)]
	key := clipKey{&clip[0], len(clip)}
	if e := s.known[key]; e != nil {
		s.order.MoveToFront(e)
		known, _ := e.Value.(*shelved)
		return known.number, clip, nil, false
	}
	for s.size+len(clip) > clipsMost {
		e := s.order.Back()
		old, _ := s.order.Remove(e).(*shelved)
		delete(s.known, clipKey{&old.clip[0], len(old.clip)})
		s.size -= len(old.clip)
		forget = append(forget, old.number)
	}
	if s.last++; s.last == 0 { // zero is none
		s.last++
	}
	s.known[key] = s.order.PushFront(&shelved{s.last, clip})
	s.size += len(clip)
	return s.last, clip, forget, true
}

// copies are the lender's of a borrower's clips.
type copies struct {
	all     map[uint32]media.Clip
	size    int
	number  uint32 // of the one that is coming; 0: none is
	coming  media.Clip
	missing int
}

func newCopies() *copies { return &copies{all: make(map[uint32]media.Clip)} }

// add takes a part of a clip: what is in the way of a broken peer is an error.
func (c *copies) add(number, total uint32, part []byte) error {
	if c.number == 0 {
		if _, there := c.all[number]; there || number == 0 || total == 0 || c.size+int(total) > clipsMost {
			return fmt.Errorf("%w: clip %d of %d bytes", ErrProtocol, number, total)
		}
		c.number, c.missing = number, int(total)
		c.coming = make(media.Clip, 0, total)
	}
	if number != c.number || len(part) == 0 || len(part) > c.missing {
		return fmt.Errorf("%w: a part of clip %d", ErrProtocol, number)
	}
	c.coming = append(c.coming, part...)
	if c.missing -= len(part); c.missing == 0 {
		c.all[number] = c.coming
		c.size += len(c.coming)
		c.number, c.coming = 0, nil
	}
	return nil
}

func (c *copies) forget(number uint32) {
	c.size -= len(c.all[number])
	delete(c.all, number)
}
