package server

import "sync"

// runningShards holds the shards that a node runs and the Service that they share. The service starts with the
// first shard. It is safe for concurrent use.
type runningShards struct {
	shardCount int             // shards of the cluster
	newService func() *Service // creates the shared service

	mu       sync.Mutex
	service  *Service // nil: no shard has started yet
	byNumber map[int]*ownedShard
	starting int // number of shards that are starting
}

// newRunningShards returns an empty runningShards for a cluster with count shards.
func newRunningShards(count int, newService func() *Service) *runningShards {
	return &runningShards{shardCount: count, newService: newService, byNumber: make(map[int]*ownedShard)}
}

// beginStart returns the shared service for a shard that is about to start, and creates it if necessary. The caller
// must call endStart after the start.
func (s *runningShards) beginStart() *Service {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starting++
	if s.service == nil {
		s.service = s.newService()
	}
	return s.service
}

// endStart ends what beginStart began. c is the shard that now runs. It is nil if the start failed or if the caller
// started no shard.
func (s *runningShards) endStart(c *ownedShard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.starting--; c != nil {
		s.byNumber[c.number] = c
	}
}

// remove removes a shard that is about to stop from the running shards.
func (s *runningShards) remove(number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byNumber, number)
}

// shard returns the running shard with this number, or nil if it does not run on this node.
func (s *runningShards) shard(number int) *ownedShard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byNumber[number]
}

// takesCalls reports whether a shard runs on this node and is not being handed over to another node.
func (s *runningShards) takesCalls(number int) bool {
	c := s.shard(number)
	return c != nil && !c.handingOver.Load()
}

// all returns the shards, including those that are starting or stopping.
func (s *runningShards) all() []*shard {
	if service := s.currentService(); service != nil {
		return service.shards.all()
	}
	return nil
}

// currentService returns the shared service, or nil if no shard has created it.
func (s *runningShards) currentService() *Service {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.service
}

// openService returns the shared service if a shard has completely opened it (openSIP). Otherwise it returns nil.
func (s *runningShards) openService() *Service {
	if service := s.currentService(); service != nil && service.isOpen.Load() {
		return service
	}
	return nil
}

// serviceOf returns the shared service, or nil if there is none. complete is true if every shard for which owned
// returns true runs on this node.
func (s *runningShards) serviceOf(owned func(number int) bool) (service *Service, complete bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	complete = true
	for number := range s.shardCount {
		complete = complete && (s.byNumber[number] != nil || !owned(number))
	}
	return s.service, complete
}

// closeUnused closes the shared service if no shard runs or starts. In a cluster with several shards it leaves the
// service open, unless failed is true, because the node still forwards calls.
func (s *runningShards) closeUnused(failed bool) {
	s.closeIf(func() bool { return len(s.byNumber)+s.starting == 0 && (failed || s.shardCount < 2) })
}

// close closes the shared service.
func (s *runningShards) close() { s.closeIf(func() bool { return true }) }

// closeIf closes the shared service if condition returns true. It calls condition with the lock held, so that no
// start can begin meanwhile.
func (s *runningShards) closeIf(condition func() bool) {
	s.mu.Lock()
	service := s.service
	if service == nil || !condition() {
		s.mu.Unlock()
		return
	}
	s.service = nil
	s.mu.Unlock()
	service.Close()
}
