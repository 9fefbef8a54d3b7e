! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The hocket authors

! Runs every kernel and prints the bits of its answer, from each rank.
program kernels
  use mpi, only: MPI_COMM_WORLD
  use stencils, only: halo_line, &
    halo_plane, &
    halo_send_receive, &
    residual, &
    residual_decides, edge_first, fused_loop
  use transforms, only: alltoall_and_matrix, &
    transpose_and_factors, &
    two_fields, &
    chain, &
    local_block_first
  use linear_algebra, only: dot_product_and_update, &
    panel, &
    gathered_vector, &
    uneven_blocks, &
    assemble_before, &
    power_method
  use particles, only: ring, &
    own_first, &
    clusters, &
    sampling
  use statistics, only: gather_beside_a_call, &
    module_field, &
    histograms, &
    two_at_once, &
    prefix, &
    sections
  use parts, only: made_and_needed, columns_of_a_matrix, running_sums, from_the_end
  use stages, only: largest_of_each_step, one_value_each, each_step_needs_the_last
  use exchanges, only: two_fields_exchanged, largest_beside_smoothing
  implicit none
  integer :: rank, size, ierr
  real(8) :: answer
  external :: external_procedure
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call halo_line(rank, size, answer)
  call show('halo_line')
  call halo_plane(rank, size, answer)
  call show('halo_plane')
  call halo_send_receive(rank, size, answer)
  call show('halo_send_receive')
  call residual(rank, size, answer)
  call show('residual')
  call residual_decides(rank, size, answer)
  call show('residual_decides')
  call edge_first(rank, size, answer)
  call show('edge_first')
  call fused_loop(rank, size, answer)
  call show('fused_loop')
  call alltoall_and_matrix(rank, size, answer)
  call show('alltoall_and_matrix')
  call transpose_and_factors(rank, size, answer)
  call show('transpose_and_factors')
  call two_fields(rank, size, answer)
  call show('two_fields')
  call chain(rank, size, answer)
  call show('chain')
  call local_block_first(rank, size, answer)
  call show('local_block_first')
  call dot_product_and_update(rank, size, answer)
  call show('dot_product_and_update')
  call panel(rank, size, answer)
  call show('panel')
  call gathered_vector(rank, size, answer)
  call show('gathered_vector')
  call uneven_blocks(rank, size, answer)
  call show('uneven_blocks')
  call assemble_before(rank, size, answer)
  call show('assemble_before')
  call power_method(rank, size, answer)
  call show('power_method')
  call ring(rank, size, answer)
  call show('ring')
  call own_first(rank, size, answer)
  call show('own_first')
  call clusters(rank, size, answer)
  call show('clusters')
  call sampling(rank, size, answer)
  call show('sampling')
  call gather_beside_a_call(rank, size, answer)
  call show('gather_beside_a_call')
  call module_field(rank, size, answer)
  call show('module_field')
  call histograms(rank, size, answer)
  call show('histograms')
  call two_at_once(rank, size, answer)
  call show('two_at_once')
  call prefix(rank, size, answer)
  call show('prefix')
  call sections(rank, size, answer)
  call show('sections')
  call external_procedure(rank, size, answer)
  call show('external_procedure')
  call made_and_needed(rank, size, answer)
  call show('made_and_needed')
  call columns_of_a_matrix(rank, size, answer)
  call show('columns_of_a_matrix')
  call running_sums(rank, size, answer)
  call show('running_sums')
  call from_the_end(rank, size, answer)
  call show('from_the_end')
  call largest_of_each_step(rank, size, answer)
  call show('largest_of_each_step')
  call one_value_each(rank, size, answer)
  call show('one_value_each')
  call each_step_needs_the_last(rank, size, answer)
  call show('each_step_needs_the_last')
  call two_fields_exchanged(rank, size, answer)
  call show('two_fields_exchanged')
  call largest_beside_smoothing(rank, size, answer)
  call show('largest_beside_smoothing')
  call MPI_Finalize(ierr)
contains
  subroutine show(name)
    character(len=*), intent(in) :: name
    print '(a,1x,i0,1x,z16.16)', name, rank, answer
  end subroutine
end program kernels
