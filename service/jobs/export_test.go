package jobs

// Running says whether a job of a name runs.
func (r *Runner) Running(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.by[name] != nil
}
