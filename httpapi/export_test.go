package httpapi

// MergePatch is mergePatch.
func MergePatch(target, patch any) any { return mergePatch(target, patch) }
