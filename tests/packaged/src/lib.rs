// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Nothing but tests: what an engine gets that has opweave's packages and nothing else.
